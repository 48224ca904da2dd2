// Word vectors on several ranks.
#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <string>
#include <vector>

#include "apps/common/load_corpus.hpp"
#include "apps/common/table_reader.hpp"
#include "apps/word_vectors/evaluation.hpp"
#include "apps/word_vectors/trainer.hpp"
#include "lapse/core/error.hpp"
#include "test/mpi/application_techniques.hpp"
#include "test/mpi/word_vectors_text.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using lapse::test::kTopics;
using lapse::test::kTopicWords;
using lapse::test::options_with;
using lapse::test::TemporaryDirectory;

namespace {

constexpr std::uint64_t kSentences = 800;
const double kUntrainedLoss = 6 * std::log(2);  // with all vectors zero and five negatives

// Every rank has the text in a file of its own.
struct TopicText {
  explicit TopicText(const std::string& text = lapse::test::text_of_topics(kSentences))
      : files{directory.write("text", text)} {}

  TemporaryDirectory directory;
  std::vector<std::string> files;
};

TrainingOptions small_training() {
  TrainingOptions options;
  options.tables = "";  // new names for every trainer
  options.dimensions = 12;
  options.runner.epochs = 4;
  options.runner.rate = 0.04;
  options.runner.windows.window = 3;
  options.runner.windows.subsample = 0;
  options.runner.windows.batch = 32;
  options.runner.lookahead = 20;
  options.runner.shuffle = 50;
  return options;
}

void train(Trainer& trainer, const TrainingOptions& options) {
  while (trainer.epochs().size() < options.runner.epochs) trainer.run_epoch();
}

WordVectors vectors_of(adapm::ParameterManager& manager, const Trainer& trainer, const Corpus& corpus) {
  WordVectors vectors{corpus.words, trainer.tables().inputs.length(), {}};
  manager.server().run_workers(1, [&](Worker& worker) {
    read_keys(worker, trainer.tables().inputs, 0, corpus.words.size(), [&](std::span<const float> values) {
      vectors.values.insert(vectors.values.end(), values.begin(), values.end());
    });
  });
  return vectors;
}

// The mean cosine of words of one topic, minus that of words of different topics.
double separation(const WordVectors& vectors) {
  const std::vector<float> rows = normalized_rows(vectors);
  double sums[2] = {0, 0};
  std::uint64_t counts[2] = {0, 0};
  for (WordId a = 0; a < vectors.words.size(); ++a) {
    for (WordId b = 0; b < a; ++b) {
      double cosine = 0;
      for (std::size_t d = 0; d < vectors.dimensions; ++d)
        cosine += static_cast<double>(rows[a * vectors.dimensions + d]) * rows[b * vectors.dimensions + d];
      const bool is_near = vectors.words.name(a)[0] == vectors.words.name(b)[0];
      sums[is_near] += cosine;
      ++counts[is_near];
    }
  }
  return sums[1] / static_cast<double>(counts[1]) - sums[0] / static_cast<double>(counts[0]);
}

}  // namespace

TEST_CASE("words that occur together come near under every technique") {
  const adapm::Technique technique = GENERATE(from_range(adapm::kTechniques));
  CAPTURE(adapm::to_string(technique));
  const TopicText text;
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(technique));
  const Corpus corpus = load_corpus(manager.server(), 2, {text.files, 5});
  CHECK(corpus.words.size() == kTopics * kTopicWords);
  CHECK(corpus.occurrences == 10 * kSentences);
  TrainingOptions options = small_training();
  options.workers = {manager.ranks() == 1 ? 2 : 1};
  Trainer trainer(manager, corpus, options);
  CHECK(separation(vectors_of(manager, trainer, corpus)) < 0.2);
  train(trainer, options);
  CHECK(separation(vectors_of(manager, trainer, corpus)) > 0.5);
  for (const EpochRecord& epoch : trainer.epochs()) CHECK(epoch.words == corpus.occurrences);
  CHECK(trainer.epochs().back().loss < 0.8 * kUntrainedLoss);
  lapse::test::check_ways(technique, lapse::test::accesses_of(trainer));
  manager.close();
}

TEST_CASE(
    "Adagrad, separate negatives and negatives of their own learn too, also with workers on one rank alone") {
  const TopicText text;
  adapm::ParameterManager manager(MPI_COMM_WORLD);
  TrainingOptions options = small_training();
  const int kind = GENERATE(0, 1, 2);
  CAPTURE(kind);
  options.runner.optimiser = kind == 0 ? Optimiser::adagrad : Optimiser::sgd;
  if (kind == 0) options.runner.rate = 0.1;
  options.runner.windows.shared_negatives = kind != 1;
  options.runner.windows.negative_uses = kind == 2 ? 1 : 4;
  options.workers.assign(static_cast<std::size_t>(manager.ranks()), 0);
  options.workers.back() = 2;
  const std::int32_t workers = manager.rank().value() + 1 == manager.ranks() ? 2 : 0;
  const Corpus corpus = load_corpus(manager.server(), workers, {text.files, 5});
  Trainer trainer(manager, corpus, options);
  train(trainer, options);
  CHECK(separation(vectors_of(manager, trainer, corpus)) > 0.5);
  CHECK(trainer.epochs().back().loss < 0.8 * kUntrainedLoss);
  CHECK(trainer.epochs().back().loss < trainer.epochs().front().loss);
  manager.close();
}

TEST_CASE("one worker gives the same vectors, bit for bit, on every rank") {
  const TopicText text;
  std::vector<float> values;
  for (const bool on_last : {false, true}) {
    adapm::ParameterManager manager(MPI_COMM_WORLD);
    TrainingOptions options = small_training();
    options.runner.epochs = 2;
    options.sampling = adapm::SamplingScheme::naive;  // the other schemes draw local keys
    options.workers.assign(static_cast<std::size_t>(manager.ranks()), 0);
    (on_last ? options.workers.back() : options.workers.front()) = 1;
    const Corpus corpus = load_corpus(manager.server(), 1, {text.files, 5});
    Trainer trainer(manager, corpus, options);
    train(trainer, options);
    const WordVectors vectors = vectors_of(manager, trainer, corpus);
    if (!on_last) values = vectors.values;
    CHECK((vectors.values == values));
    manager.close();
  }
}

TEST_CASE("the vocabulary is that of one reader, however many workers count") {
  const TopicText text;
  ParameterServer server{MPI_COMM_WORLD};
  const io::Vocabulary alone = count_words(text.files, {}).sorted();
  for (const std::int32_t workers : {0, 1, 3}) {
    const Corpus corpus = load_corpus(server, workers, {text.files, 1});
    CHECK((corpus.words.to_bytes() == alone.to_bytes()));
    CHECK(corpus.occurrences == 10 * kSentences);
  }
  server.close();
}

TEST_CASE("a bad text is an error on every rank that names its place") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {fmt::format("{}\nfine\nnot \xff fine\n", std::string(100, 'x')), "text:3:5: byte that is not UTF-8"},
      {fmt::format("a a a\n{}\n", std::string(2000, 'x')), "text:2:1: word"},
      {fmt::format("a\n{}", std::string((1U << 20U) + 1, 'x')), "text:2: line longer"},
      {"a b c\n", "none of the 3 different words of the text occurs 5 times"},
      {"\n \n", "the text has no words"},
  }));
  CAPTURE(message);
  const TopicText file(text);
  ParameterServer server{MPI_COMM_WORLD};
  CHECK_THROWS_WITH(load_corpus(server, 2, {file.files, 5}), Contains(message));
  server.close();
}

TEST_CASE("a text that one rank lacks is an error on every rank") {
  const TopicText text;
  ParameterServer server{MPI_COMM_WORLD};
  std::vector<std::string> files = text.files;
  if (server.rank().value() + 1 == server.ranks()) files[0] += "-missing";
  CHECK_THROWS_WITH(load_corpus(server, 1, {files, 5}), Contains("text-missing"));
  server.close();
}

TEST_CASE("questions are answered alike by any number of workers") {
  ParameterServer server{MPI_COMM_WORLD};
  WordVectors vectors{{}, 6, {}};
  RandomEngine random(4);
  for (int word = 0; word < 30; ++word) {
    vectors.words.add(fmt::format("word{}", word));
    for (int d = 0; d < 6; ++d) vectors.values.push_back(static_cast<float>(random.uniform() - 0.5));
  }
  EvaluationData data;
  data.analogies.emplace();
  data.analogies->sections = {{"capital", 3}, {"gram1", 1}};
  const std::vector<float> rows = normalized_rows(vectors);
  const auto word = [&] { return static_cast<WordId>(random.below(30)); };
  for (std::uint32_t i = 0; i < 300; ++i)
    data.analogies->known.push_back({word(), word(), word(), word(), i % 2});
  data.pairs = WordPairs{{{0, 1, 3.0}, {2, 3, 1.0}, {4, 5, 2.0}}, 7};
  std::int64_t correct = 0;
  for (const bool is_correct : AnalogySolver(rows, 6).is_correct(data.analogies->known))
    correct += is_correct ? 1 : 0;
  for (const std::int32_t workers : {0, 1, 3}) {
    const Evaluation evaluation = evaluate(server, workers, vectors, data);
    CHECK(evaluation.analogies->total().correct == correct);
    CHECK(evaluation.analogies->total().answered == 300);
    CHECK(evaluation.analogies->semantic().answered == 150);
    CHECK(evaluation.analogies->unknown == 4);
    CHECK(evaluation.similarity->correlation == similarity_correlation(data.pairs->known, rows, 6));
    CHECK(evaluation.similarity->unknown == 7);
  }
  server.close();
}

TEST_CASE("impossible options and diverging training are errors of word vectors on every rank") {
  const TopicText text;
  adapm::ParameterManager manager(MPI_COMM_WORLD);
  const Corpus corpus = load_corpus(manager.server(), 1, {text.files, 5});
  TrainingOptions options = small_training();
  options.workers = {0};
  CHECK_THROWS_AS(Trainer(manager, corpus, options), ConfigurationError);
  options = small_training();
  options.runner.rate = 1e30;
  Trainer trainer(manager, corpus, options);
  CHECK_THROWS_WITH(train(trainer, options), Contains("diverged in epoch"));
  manager.close();
}

TEST_CASE("fewer sentences than workers, one word and long windows simply work") {
  const TopicText text(GENERATE("a b a\n", "a\n", "a a a a\nb"));
  adapm::ParameterManager manager(MPI_COMM_WORLD);
  const Corpus corpus = load_corpus(manager.server(), 3, {text.files, 1});
  TrainingOptions options = small_training();
  options.workers = {3};
  options.runner.epochs = 2;
  options.runner.windows.window = 1000;
  options.runner.lookahead = 1;
  options.runner.shuffle = 0;
  Trainer trainer(manager, corpus, options);
  train(trainer, options);
  CHECK(std::isfinite(trainer.epochs().back().loss));
  CHECK(trainer.epochs().back().words == corpus.occurrences);
  manager.close();
}
