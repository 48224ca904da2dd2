#include "apps/word_vectors/subsampling.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

Subsampling::Subsampling(const Corpus& corpus, double threshold) {
  limits_.reserve(corpus.words.size());
  for (WordId word = 0; word < corpus.words.size(); ++word) {
    const double share =
        static_cast<double>(corpus.words.count(word)) / static_cast<double>(corpus.occurrences);
    const double ratio = threshold / share;
    const double probability = threshold == 0 ? 1 : std::min(1.0, std::sqrt(ratio) + ratio);
    limits_.push_back(static_cast<std::uint64_t>(probability * (kAlmostOne + 1.0)));
  }
}

}  // namespace lapse::apps
