#include "apps/topic_model/document_inference.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

namespace {
// Of the documents whose words are read together: bounds the memory of their counts.
constexpr std::size_t kMaxCounts = std::size_t{1} << 24U;
}  // namespace

DocumentInference::DocumentInference(Worker& worker, const TopicTables& tables, const TopicPriors& priors)
    : worker_(worker), tables_(tables), priors_(priors), mixture_(priors.alpha) {
  const double all_beta = static_cast<double>(priors.words) * priors.beta;
  for (const std::int64_t total : read_totals(worker, tables))
    inverse_.push_back(1 / (static_cast<double>(std::max<std::int64_t>(total, 0)) + all_beta));
}

void DocumentInference::run(
    std::span<const Document> documents,
    const std::function<void(std::size_t i, std::span<const double> theta, double likelihood)>& f) {
  const std::size_t max_words = std::max<std::size_t>(1, kMaxCounts / priors_.topics());
  std::vector<const float*> rows;
  for (std::size_t begin = 0; begin < documents.size();) {
    std::size_t words = 0;
    std::size_t end = begin;
    do {
      words += documents[end].given.size() + documents[end].scored.size();
      ++end;
    } while (end < documents.size() && words < max_words);
    read_words(documents.subspan(begin, end - begin));
    for (; begin < end; ++begin) {
      const Document& document = documents[begin];
      rows.clear();
      for (const io::WordCount& word : document.given) rows.push_back(of_topics(word.word));
      const std::span<const double> theta = mixture_.infer(document.given, rows);
      f(begin, theta, likelihood(document.scored, theta));
    }
  }
}

void DocumentInference::read_words(std::span<const Document> documents) {
  words_.clear();
  for (const Document& document : documents) {
    for (const io::WordCount& word : document.given) words_.push_back(word.word);
    for (const io::WordCount& word : document.scored) words_.push_back(word.word);
  }
  std::ranges::sort(words_);
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
  const std::size_t topics = priors_.topics();
  of_topics_.resize(words_.size() * topics);
  constexpr std::size_t kWordsPerPull = 256;
  std::vector<Key> keys;
  std::vector<std::int32_t> counts;
  for (std::size_t begin = 0; begin < words_.size(); begin += kWordsPerPull) {
    const std::size_t end = std::min(begin + kWordsPerPull, words_.size());
    keys.clear();
    for (std::size_t i = begin; i < end; ++i) keys.emplace_back(words_[i]);
    counts.resize(keys.size() * topics);
    worker_.pull(tables_.words, keys, counts).wait();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      of_topics_[begin * topics + i] = static_cast<float>(
          (static_cast<double>(std::max(counts[i], 0)) + priors_.beta) * inverse_[i % topics]);
    }
  }
}

const float* DocumentInference::of_topics(io::Vocabulary::Id word) const {
  const auto found = std::ranges::lower_bound(words_, word);
  return of_topics_.data() + static_cast<std::size_t>(found - words_.begin()) * priors_.topics();
}

double DocumentInference::likelihood(std::span<const io::WordCount> words,
                                     std::span<const double> theta) const {
  double sum = 0;
  for (const io::WordCount& word : words) {
    const float* const row = of_topics(word.word);
    double probability = 0;
    for (std::size_t topic = 0; topic < theta.size(); ++topic)
      probability += theta[topic] * static_cast<double>(row[topic]);
    sum += word.count * std::log(probability);
  }
  return sum;
}

}  // namespace lapse::apps
