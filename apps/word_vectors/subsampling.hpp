// Chooses the occurrences of frequent words to train.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/common/corpus.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// Drops occurrences of frequent words at random, so that rare words are trained more, and with words farther
// away (Mikolov et al., Distributed Representations of Words and Phrases and their Compositionality, NIPS
// 2013, section 2.3). An occurrence of a word with the share s of all occurrences is kept with the
// probability
//
//     sqrt(t / s) + t / s
//
// for the threshold t: the formula of the authors' program word2vec, which differs from the paper's.
// Immutable.
class Subsampling {
 public:
  // threshold 0: keeps everything.
  Subsampling(const Corpus& corpus, double threshold);

  bool keeps(WordId word, RandomEngine& random) const {
    const std::uint64_t limit = limits_[word];
    return limit > kAlmostOne || (random() >> 32U) < limit;
  }
  double probability(WordId word) const { return static_cast<double>(limits_[word]) / (kAlmostOne + 1.0); }

 private:
  static constexpr std::uint64_t kAlmostOne = 0xffffffff;

  std::vector<std::uint64_t> limits_;  // by word: its probability times 2^32
};

}  // namespace lapse::apps
