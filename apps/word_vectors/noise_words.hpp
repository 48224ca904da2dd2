// The words that negatives are drawn from.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/word_vectors/corpus.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// Draws words with probabilities in proportion to count^exponent, by the alias method (Walker 1977; Vose
// 1991): one random number and one access to memory for each. Immutable, so any number of threads may draw.
class NoiseWords {
 public:
  // exponent 0.75: the unigram distribution of Mikolov et al. 2013; 0: uniform.
  NoiseWords(const Corpus& corpus, double exponent);

  WordId draw(RandomEngine& random) const {
    const std::uint64_t bits = random();
    const auto place = static_cast<WordId>((bits >> 32U) * entries_.size() >> 32U);
    const Entry& entry = entries_[place];
    return static_cast<std::uint32_t>(bits) < entry.limit ? place : entry.alias;
  }
  double probability(WordId word) const { return probabilities_[word]; }

 private:
  // A place is drawn uniformly; it stands for its own word with the probability limit / 2^32, else for alias.
  struct Entry {
    std::uint32_t limit;
    WordId alias;
  };

  std::vector<double> probabilities_;
  std::vector<Entry> entries_;
};

}  // namespace lapse::apps
