#include "apps/topic_model/coherence.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lapse::apps {

namespace {

// The worker's documents with a word, in ascending order.
std::vector<std::uint32_t> documents_with(const WordTokens& tokens, io::Vocabulary::Id word) {
  std::vector<std::uint32_t> documents;
  const auto words = tokens.words();
  const auto found = std::ranges::lower_bound(words, word);
  if (found == words.end() || *found != word) return documents;
  for (const WordTokens::Token& token : tokens.tokens(static_cast<std::size_t>(found - words.begin())))
    if (documents.empty() || documents.back() != token.document) documents.push_back(token.document);
  return documents;
}

std::int64_t common(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::int64_t found = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++found;
    const bool advances = a[i] <= b[j];
    if (b[j] <= a[i]) ++j;
    if (advances) ++i;
  }
  return found;
}

}  // namespace

double npmi(std::int64_t with_a, std::int64_t with_b, std::int64_t with_both, std::int64_t documents) {
  if (with_both <= 0) return -1;
  if (with_both == documents) return 0;
  const auto all = static_cast<double>(documents);
  const double both = static_cast<double>(with_both) / all;
  const double independent = static_cast<double>(with_a) / all * (static_cast<double>(with_b) / all);
  return std::log(both / independent) / -std::log(both);
}

Cooccurrences::Cooccurrences(const TopicWordLists& topics) : topics_(topics) {
  std::size_t end = 0;
  for (const auto& words : topics_) {
    begins_.push_back(end);
    end += words.size() + words.size() * (words.size() - std::min<std::size_t>(1, words.size())) / 2;
  }
  counts_.resize(end);
}

void Cooccurrences::add(const WordTokens& tokens) {
  std::vector<std::vector<std::uint32_t>> documents;  // by word of the topic
  for (std::size_t topic = 0; topic < topics_.size(); ++topic) {
    documents.clear();
    for (const io::Vocabulary::Id word : topics_[topic]) documents.push_back(documents_with(tokens, word));
    std::size_t at = begins_[topic];
    for (const auto& with : documents) counts_[at++] += std::ssize(with);
    for (std::size_t i = 0; i < documents.size(); ++i)
      for (std::size_t j = i + 1; j < documents.size(); ++j)
        counts_[at++] += common(documents[i], documents[j]);
  }
}

std::optional<double> Cooccurrences::coherence(std::size_t topic, std::int64_t documents) const {
  const std::size_t words = topics_[topic].size();
  if (words < 2) return std::nullopt;
  const auto counts = std::span(counts_).subspan(begins_[topic]);
  double sum = 0;
  std::size_t pair = words;
  for (std::size_t i = 0; i < words; ++i)
    for (std::size_t j = i + 1; j < words; ++j, ++pair)
      sum += npmi(counts[i], counts[j], counts[pair], documents);
  return sum / static_cast<double>(pair - words);
}

}  // namespace lapse::apps
