#include "apps/word_vectors/noise_words.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

NoiseWords::NoiseWords(const Corpus& corpus, double exponent)
    : probabilities_(corpus.words.size()), entries_(corpus.words.size()) {
  double sum = 0;
  for (WordId word = 0; word < probabilities_.size(); ++word) {
    probabilities_[word] = std::pow(static_cast<double>(corpus.words.count(word)), exponent);
    sum += probabilities_[word];
  }
  // Each word's probability in units of a place's. Words that have less than a place share theirs with words
  // that have more.
  std::vector<double> rest;
  std::vector<WordId> small;
  std::vector<WordId> large;
  for (WordId word = 0; word < probabilities_.size(); ++word) {
    probabilities_[word] /= sum;
    rest.push_back(probabilities_[word] * static_cast<double>(probabilities_.size()));
    (rest[word] < 1 ? small : large).push_back(word);
    entries_[word] = {0, word};
  }
  while (!small.empty() && !large.empty()) {
    const WordId less = small.back();
    const WordId more = large.back();
    small.pop_back();
    entries_[less] = {static_cast<std::uint32_t>(std::min(rest[less] * 0x1p32, 0x1p32 - 1)), more};
    rest[more] -= 1 - rest[less];
    if (rest[more] >= 1) continue;
    large.pop_back();
    small.push_back(more);
  }
  // What rounding has left over stands for itself: its alias is the word itself.
}

}  // namespace lapse::apps
