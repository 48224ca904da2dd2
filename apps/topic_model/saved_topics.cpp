#include "apps/topic_model/saved_topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/manager_program.hpp"
#include "apps/common/model_description.hpp"
#include "apps/common/table_reader.hpp"
#include "apps/topic_model/trainer.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/npy/npy_input.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"

namespace lapse::apps {

namespace {

io::NpyInput open_counts(const std::string& path) {
  io::NpyInput counts(path);
  counts.require(io::npy_descriptor<std::int32_t>(), sizeof(std::int32_t));
  if (counts.shape().size() != 2 || counts.shape()[0] == 0 || counts.shape()[1] == 0)
    throw FileError(counts.path(), "is not an array of words x topics, each at least 1");
  return counts;
}

// Number of words, number of topics, alpha and beta, the vocabulary.
std::string to_bytes(const SavedTopics& saved) {
  std::string bytes;
  const auto append = [&](const auto& number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append(saved.priors.words);
  append(std::uint64_t{saved.priors.topics()});
  for (const double alpha : saved.priors.alpha) append(alpha);
  append(saved.priors.beta);
  for (const std::byte byte : saved.vocabulary.to_bytes()) bytes += static_cast<char>(byte);
  return bytes;
}

SavedTopics from_bytes(std::string_view bytes) {
  SavedTopics saved;
  const auto next = [&](auto& number) {
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes.remove_prefix(sizeof number);
  };
  std::uint64_t topics = 0;
  next(saved.priors.words);
  next(topics);
  saved.priors.alpha.resize(topics);
  for (double& alpha : saved.priors.alpha) next(alpha);
  next(saved.priors.beta);
  saved.vocabulary.add_bytes(std::as_bytes(std::span(bytes)));
  return saved;
}

ModelDescription description_of(const TopicPaths& paths, const TopicPriors& priors, bool has_names) {
  ModelDescription description(
      "topic_model",
      "p(word | topic) = (counts[word, topic] + beta) / (counts[:, topic].sum() + words * beta)");
  description.add("topics", std::uint64_t{priors.topics()});
  description.add("words", priors.words);
  description.add_file("counts", paths.counts,
                       "int32, words x topics: how often each word occurs with each topic");
  description.add_file("priors", paths.priors, "float64: alpha of each topic, then beta");
  if (has_names) description.add_file("vocabulary", paths.vocabulary, "the words, in the order of rows");
  return description;
}

}  // namespace

TopicPaths topic_paths(const std::string& prefix) {
  return {prefix + "-counts.npy", prefix + "-priors.npy", prefix + "-vocabulary.txt"};
}

SavedTopics read_saved_topics(const TopicPaths& paths) {
  const io::NpyInput counts = open_counts(paths.counts);
  SavedTopics saved{.priors = {.words = counts.shape()[0]}};
  std::vector<double> priors = io::read_npy<double>(paths.priors).values;
  const std::size_t topics = counts.shape()[1];
  if (priors.size() != topics + 1) {
    throw FileError(paths.priors,
                    fmt::format("has {} numbers, expected alpha of each of the {} topics of {}, and beta",
                                priors.size(), topics, counts.path()));
  }
  saved.priors.beta = priors.back();
  priors.pop_back();
  saved.priors.alpha = std::move(priors);
  try {
    check_priors(saved.priors);
  } catch (const ConfigurationError& error) {
    throw FileError(paths.priors, error.what());
  }
  if (!std::filesystem::exists(paths.vocabulary)) return saved;
  saved.vocabulary = io::read_vocabulary(paths.vocabulary);
  if (saved.vocabulary.size() != saved.priors.words) {
    throw FileError(paths.vocabulary, fmt::format("has {} words, but {} has {}", saved.vocabulary.size(),
                                                  counts.path(), saved.priors.words));
  }
  return saved;
}

TopicFiles::TopicFiles(const std::string& prefix, const TopicPriors& priors)
    : prefix_(prefix),
      counts_(topic_paths(prefix).counts, {priors.words, priors.topics()}),
      priors_(topic_paths(prefix).priors, {priors.topics() + 1}) {}

void TopicFiles::write(Worker& worker, const TopicTables& tables, const TopicPriors& priors,
                       const io::Vocabulary& vocabulary) {
  ModelDescription::remove(prefix_);
  read_keys(worker, tables.words, 0, tables.words.keys(),
            [&](std::span<const std::int32_t> counts) { counts_.append(counts); });
  priors_.append(priors.alpha);
  priors_.append(std::span(&priors.beta, 1));
  counts_.close();
  priors_.close();
  const TopicPaths paths = topic_paths(prefix_);
  if (vocabulary.empty()) {
    std::error_code error;
    std::filesystem::remove(paths.vocabulary, error);
    if (error) throw FileError(paths.vocabulary, "cannot be removed: " + error.message());
  } else {
    io::write_vocabulary(paths.vocabulary, vocabulary);
  }
  description_of(paths, priors, !vocabulary.empty()).write(prefix_);
}

SavedTopics read_saved_topics(ParameterServer& server, const std::string& prefix) {
  const bool reads = server.rank() == Rank{0};
  const auto own = [&] { return reads ? to_bytes(read_saved_topics(topic_paths(prefix))) : std::string(); };
  return from_bytes(server.exchange("read_saved_topics", own).front());
}

void load_saved_counts(ParameterServer& server, const std::string& prefix, const TopicTables& tables) {
  run_on_rank_0(server, [&](Worker& worker) {
    io::NpyInput input = open_counts(topic_paths(prefix).counts);
    const std::size_t topics = tables.words.length();
    if (input.shape() != io::NpyShape{tables.words.keys(), topics})
      throw FileError(input.path(), "has changed since its topics were read");
    constexpr std::uint64_t kWordsPerPush = 1024;
    std::vector<std::int64_t> totals(topics);
    std::vector<std::int32_t> counts;
    std::vector<Key> keys;
    for (std::uint64_t word = 0; word < tables.words.keys();) {
      keys.clear();
      for (; word < tables.words.keys() && keys.size() < kWordsPerPush; ++word) keys.emplace_back(word);
      counts.resize(keys.size() * topics);
      input.read(counts.data(), counts.size() * sizeof(std::int32_t));
      for (std::size_t i = 0; i < counts.size(); ++i) {
        totals[i % topics] += counts[i];
        if (counts[i] >= 0) continue;
        throw FileError(input.path(), fmt::format("counts word {} {} times with topic {}, expected 0 or more",
                                                  keys[i / topics].value() + 1, counts[i], i % topics + 1));
      }
      worker.push(tables.words, keys, counts);
    }
    worker.push(tables.totals, TopicTables::kTotals, totals);
    worker.wait_all();
  });
}

}  // namespace lapse::apps
