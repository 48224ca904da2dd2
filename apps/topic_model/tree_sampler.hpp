// Draws topics by a tree over all of them and a list of those of the document.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/topic_model/topic_sampler.hpp"

namespace lapse::apps {

// F+LDA, word by word (Yu, Hsieh, Yun, Vishwanathan and Dhillon, WWW 2015): the weights are alpha_k times
// the factors of all topics, whose sums are in a tree, plus n_dk times the factors of the document's topics.
// A token takes time in proportion to the topics of its document and to the logarithm of the number of
// topics. Thread safety: none.
class TreeSampler final : public TopicSampler {
 public:
  explicit TreeSampler(const TopicPriors& priors);

  // Of a document with this many tokens.
  static std::size_t document_bytes(const TopicPriors& priors, std::uint64_t tokens) {
    return sizeof(Document) + std::min<std::size_t>(tokens, priors.topics()) * sizeof(Entry);
  }

  void count_documents(const WordTokens& tokens) override;
  void resample(std::span<WordTokens::Token> tokens, std::span<std::int32_t> counts,
                RandomEngine& random) override;

 private:
  // A topic of a document, and how often it occurs there.
  struct Entry {
    TopicId topic = 0;
    std::int32_t count = 0;
  };
  // The topics that a document has, in any order; it has at most as many as tokens, or all.
  struct Document {
    std::size_t first = 0;  // in entries_
    std::uint32_t topics = 0;
  };

  void add_to(Document& document, TopicId topic);
  void remove_from(Document& document, TopicId topic);
  // A topic of the document with probability in proportion to n_dk times its factor, or any topic in
  // proportion to alpha_k times its factor.
  TopicId draw(const Document& document, RandomEngine& random);

  // Sums the weights alpha_k times factor of all topics.
  void build();
  // The factor of the topic has changed.
  void update(std::size_t topic);
  std::size_t find(float weight) const;

  const std::size_t leaves_;  // a power of two, at least the number of topics
  std::vector<float> tree_;   // node i is the sum of 2 i and 2 i + 1; leaves begin at leaves_
  std::vector<Document> documents_;
  std::vector<Entry> entries_;
  std::vector<float> sums_;  // up to each of a document's topics
};

}  // namespace lapse::apps
