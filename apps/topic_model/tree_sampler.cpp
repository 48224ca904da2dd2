#include "apps/topic_model/tree_sampler.hpp"

#include <algorithm>
#include <bit>

namespace lapse::apps {

TreeSampler::TreeSampler(const TopicPriors& priors)
    : TopicSampler(priors),
      leaves_(std::bit_ceil(priors.topics())),
      tree_(2 * leaves_),
      sums_(priors.topics()) {}

void TreeSampler::count_documents(const WordTokens& tokens) {
  documents_.clear();
  std::size_t entries = 0;
  for (std::size_t document = 0; document < tokens.documents(); ++document) {
    documents_.push_back({entries, 0});
    entries += std::min<std::size_t>(tokens.length(document), priors().topics());
  }
  entries_.assign(entries, {});
  for (const WordTokens::Token& token : tokens.all()) add_to(documents_[token.document], token.topic);
}

void TreeSampler::add_to(Document& document, TopicId topic) {
  Entry* const entries = entries_.data() + document.first;
  std::size_t i = 0;
  while (i < document.topics && entries[i].topic != topic) ++i;
  if (i == document.topics) entries[document.topics++] = {topic, 0};
  ++entries[i].count;
}

void TreeSampler::remove_from(Document& document, TopicId topic) {
  Entry* const entries = entries_.data() + document.first;
  std::size_t i = 0;
  while (entries[i].topic != topic) ++i;
  if (--entries[i].count == 0) entries[i] = entries[--document.topics];
}

void TreeSampler::build() {
  for (std::size_t topic = 0; topic < factors().size(); ++topic)
    tree_[leaves_ + topic] = alpha()[topic] * factors()[topic];
  for (std::size_t node = leaves_ - 1; node > 0; --node) tree_[node] = tree_[2 * node] + tree_[2 * node + 1];
}

void TreeSampler::update(std::size_t topic) {
  std::size_t node = leaves_ + topic;
  tree_[node] = alpha()[topic] * factors()[topic];
  // Sums are computed anew, not changed: they do not drift.
  for (node /= 2; node > 0; node /= 2) tree_[node] = tree_[2 * node] + tree_[2 * node + 1];
}

std::size_t TreeSampler::find(float weight) const {
  std::size_t node = 1;
  while (node < leaves_) {
    node *= 2;
    if (weight >= tree_[node] && tree_[node + 1] > 0) {
      weight -= tree_[node];
      ++node;
    }
  }
  return node - leaves_;
}

void TreeSampler::resample(std::span<WordTokens::Token> tokens, std::span<std::int32_t> counts,
                           RandomEngine& random) {
  begin_word(counts);
  build();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i + 2 * kTokensAhead < tokens.size())
      __builtin_prefetch(&documents_[tokens[i + 2 * kTokensAhead].document], 1);
    if (i + kTokensAhead < tokens.size()) {
      const Document& next = documents_[tokens[i + kTokensAhead].document];
      constexpr std::size_t kEntriesOfLine = 64 / sizeof(Entry);
      for (std::size_t at = 0; at < next.topics; at += kEntriesOfLine)
        __builtin_prefetch(&entries_[next.first + at], 1);
    }
    WordTokens::Token& token = tokens[i];
    Document& document = documents_[token.document];
    remove_from(document, token.topic);
    remove(token.topic);
    update(token.topic);
    token.topic = draw(document, random);
    add_to(document, token.topic);
    add(token.topic);
    update(token.topic);
  }
}

TopicId TreeSampler::draw(const Document& document, RandomEngine& random) {
  const Entry* const entries = entries_.data() + document.first;
  const float* const factors = this->factors().data();
  float of_document = 0;
  for (std::size_t i = 0; i < document.topics; ++i) {
    of_document += static_cast<float>(entries[i].count) * factors[entries[i].topic];
    sums_[i] = of_document;
  }
  const float weight = static_cast<float>(random.uniform()) * (of_document + tree_[1]);
  if (weight < of_document) {
    const auto end = sums_.begin() + document.topics;
    return entries[std::upper_bound(sums_.begin(), end, weight) - sums_.begin()].topic;
  }
  return static_cast<TopicId>(find(weight - of_document));
}

}  // namespace lapse::apps
