// How well the words of a topic go together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/topic_model/word_tokens.hpp"

namespace lapse::apps {

// By topic: the words that describe it, all different.
using TopicWordLists = std::vector<std::vector<io::Vocabulary::Id>>;

// Normalized pointwise mutual information of two words (Bouma, Normalized (Pointwise) Mutual Information in
// Collocation Extraction, GSCL 2009): ln(p(a, b) / (p(a) p(b))) / -ln p(a, b), where p is the share of
// documents. 1 if each word occurs only with the other, 0 if they occur independently, -1 if they never
// occur together. Words that all documents have get 0. Both words occur.
double npmi(std::int64_t with_a, std::int64_t with_b, std::int64_t with_both, std::int64_t documents);

// Counts the documents with each word of a topic, and with each pair of them. Counts of parts of a collection
// add up. Thread safety: none.
class Cooccurrences {
 public:
  explicit Cooccurrences(const TopicWordLists& topics);

  void add(const WordTokens& tokens);
  // By topic: documents with each word, then with words 0 and 1, 0 and 2, ..., 1 and 2, ...
  std::span<std::int64_t> counts() { return counts_; }

  // The coherence of a topic: the mean npmi of all pairs of its words (Lau, Newman and Baldwin, Machine
  // Reading Tea Leaves, EACL 2014). `documents`: of the collection. nullopt with fewer than two words.
  std::optional<double> coherence(std::size_t topic, std::int64_t documents) const;

 private:
  TopicWordLists topics_;
  std::vector<std::size_t> begins_;  // of the topics, in counts_
  std::vector<std::int64_t> counts_;
};

}  // namespace lapse::apps
