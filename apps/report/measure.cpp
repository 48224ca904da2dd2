#include "apps/report/measure.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace lapse::apps {

namespace {

using Words = std::vector<std::string>;

// Of baselines, of what was unknown, and numbers of epochs.
constexpr std::array kIncomparable{"baseline", "base", "unseen", "unknown", "epoch", "epochs", "ranks"};
constexpr std::array kHigherQualities{"accuracy",    "auc",       "mrr",    "hits",
                                      "likelihood",  "coherence", "recall", "spearman",
                                      "correlation", "precision", "ndcg",   "map"};
constexpr std::array kLowerQualities{"loss", "rmse", "mae", "mse", "error", "perplexity", "objective"};
constexpr std::array kLowerCosts{"seconds", "late",   "stale",     "remote",
                                 "bytes",   "queued", "imbalance", "messages"};

constexpr std::array kAbbreviations{"rmse", "mse", "mae", "mrr", "auc", "ndcg", "map"};

bool has_any(const Words& words, const auto& list) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return std::ranges::find(list, word) != list.end(); });
}

bool has_pair(const Words& words, std::string_view first, std::string_view second) {
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] == first && words[i] == second) return true;
  return false;
}

Words words_of(std::string_view name) {
  Words words(1);
  for (const char c : name) {
    if (c == '_' || c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

}  // namespace

Measure measure_of(std::string_view name) {
  const Words words = words_of(name);
  if (has_pair(words, "per", "epoch")) return {has_any(words, kLowerCosts) ? Better::lower : Better::unknown};
  if (has_any(words, kIncomparable)) return {};
  if (has_pair(words, "per", "second"))
    return {has_any(words, std::array{"relocations"}) ? Better::unknown : Better::higher};
  if (has_any(words, kHigherQualities) || has_pair(words, "held", "out") ||
      has_pair(words, "word", "similarity"))
    return {Better::higher, true};
  if (has_any(words, kLowerQualities)) return {Better::lower, true};
  if (has_pair(words, "local", "share")) return {Better::higher};
  return {has_any(words, kLowerCosts) ? Better::lower : Better::unknown};
}

bool is_better(double value, double other, Better better) {
  switch (better) {
    case Better::lower:
      return value < other;
    case Better::higher:
      return value > other;
    case Better::unknown:
      break;
  }
  return false;
}

std::string readable_name(std::string_view name) {
  std::string readable;
  for (std::string word : words_of(name)) {
    if (std::ranges::find(kAbbreviations, word) != kAbbreviations.end())
      std::ranges::transform(word, word.begin(),
                             [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!readable.empty()) readable += ' ';
    readable += word;
  }
  return readable;
}

}  // namespace lapse::apps
