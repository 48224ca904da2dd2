// A topic model on several ranks: how good its topics are, and their use for other documents.
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/common/manager_program.hpp"
#include "apps/common/table_reader.hpp"
#include "apps/topic_model/coherence.hpp"
#include "apps/topic_model/document_mixture.hpp"
#include "apps/topic_model/document_topics.hpp"
#include "apps/topic_model/documents.hpp"
#include "apps/topic_model/saved_topics.hpp"
#include "apps/topic_model/topic_list.hpp"
#include "apps/topic_model/trainer.hpp"
#include "lapse/core/error.hpp"
#include "test/mpi/application_techniques.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/mpi/topic_model_collection.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using namespace lapse::test;
using Catch::Matchers::Contains;

namespace {

// p(w | k) by word, from the tables.
std::vector<std::vector<float>> words_of_topics(adapm::ParameterManager& manager, const TopicTables& tables,
                                                const TopicPriors& priors) {
  std::vector<std::vector<float>> rows;
  manager.server().run_workers(1, [&](Worker& worker) {
    const std::vector<std::int64_t> totals = read_totals(worker, tables);
    const std::size_t topics = totals.size();
    read_keys(worker, tables.words, 0, tables.words.keys(), [&](std::span<const std::int32_t> counts) {
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (i % topics == 0) rows.emplace_back();
        rows.back().push_back(static_cast<float>(
            (counts[i] + priors.beta) /
            (static_cast<double>(totals[i % topics]) + static_cast<double>(priors.words) * priors.beta)));
      }
    });
  });
  return rows;
}

std::vector<double> mixture_of(const std::vector<io::WordCount>& words,
                               const std::vector<std::vector<float>>& rows, const TopicPriors& priors) {
  std::vector<const float*> of_topics;
  of_topics.reserve(words.size());
  for (const io::WordCount& word : words) of_topics.push_back(rows[word.word].data());
  DocumentMixture mixture(priors.alpha);
  const auto theta = mixture.infer(words, of_topics);
  return {theta.begin(), theta.end()};
}

// The likelihood of held-out documents, computed on one rank from the definition.
double expected_likelihood(const io::BagOfWords& bag, std::uint64_t seed,
                           const std::vector<std::vector<float>>& rows, const TopicPriors& priors) {
  double sum = 0;
  std::uint64_t tokens = 0;
  for (std::size_t document = 0; document < bag.documents(); ++document) {
    const HalvedDocument halves = halve(bag.document(document), seed, bag.number(document));
    const std::vector<double> theta = mixture_of(halves.first, rows, priors);
    for (const io::WordCount& word : halves.second) {
      double probability = 0;
      for (std::size_t topic = 0; topic < theta.size(); ++topic)
        probability += theta[topic] * static_cast<double>(rows[word.word][topic]);
      sum += word.count * std::log(probability);
      tokens += word.count;
    }
  }
  return sum / static_cast<double>(tokens);
}

}  // namespace

TEST_CASE("held-out documents are predicted better after the training") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  const auto options = small_training({2});
  TopicTrainer trainer(manager, part_of_documents(manager, options), options);
  const io::BagOfWords held_out = part_of_documents(manager, options);
  trainer.set_held_out(HeldOutDocuments(manager, held_out, options.workers, 3));
  std::vector<double> likelihoods;
  trainer.run([&](const TopicEpoch& record) {
    CHECK(record.held_out.has_value() == record.likelihood.has_value());
    if (record.held_out) likelihoods.push_back(*record.held_out);
  });
  REQUIRE(likelihoods.size() == 3);
  const double expected = expected_likelihood(
      all_documents(), 3, words_of_topics(manager, trainer.tables(), trainer.priors()), trainer.priors());
  CHECK(likelihoods.back() == Approx(expected).epsilon(1e-9));
  // With one of eight words at random, and of all 24.
  CHECK(likelihoods.back() > -std::log(8.0) - 0.15);
  CHECK(likelihoods.back() < -std::log(8.0) + 0.05);
  manager.close();
}

TEST_CASE("held-out documents without two tokens are refused on every rank") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  io::BagOfWords bag(3);
  for (std::uint64_t number = 0; number < 4; ++number)
    bag.add(std::vector<io::WordCount>{{1, 1}}, number % static_cast<std::uint64_t>(manager.ranks()) ==
                                                    static_cast<std::uint64_t>(manager.rank().value()));
  CHECK_THROWS_WITH(HeldOutDocuments(manager, bag, {1}, 1), Contains("no held-out document has two tokens"));
  manager.close();
}

TEST_CASE("coherence counts the documents of all ranks") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  auto options = small_training({2});
  options.epochs = 0;
  TopicTrainer trainer(manager, part_of_documents(manager, options), options);
  trainer.run();
  // Words of one topic, of two, and of none.
  const TopicWordLists topics = {{0, 1, 2, 3}, {0, kTopicWords, kTopicWords + 1}, {}};
  const auto coherences = trainer.coherences(topics);
  const io::BagOfWords bag = all_documents();
  std::vector<std::size_t> documents;
  for (std::size_t i = 0; i < bag.documents(); ++i) documents.push_back(i);
  Cooccurrences all(topics);
  all.add(WordTokens(bag, documents));
  REQUIRE(coherences.size() == 3);
  CHECK(coherences[0] == all.coherence(0, kDocuments));
  CHECK(coherences[0].value() > 0.7);
  CHECK(coherences[1] == all.coherence(1, kDocuments));
  CHECK(coherences[1].value() < -0.1);
  CHECK_FALSE(coherences[2].has_value());
  const auto list = list_topics(manager.server(), trainer, 3, 5);
  REQUIRE(list.size() == (manager.rank() == Rank{0} ? options.topics : 0));
  for (const TopicWords& topic : list) {
    CHECK(topic.words.size() == 3);
    CHECK(topic.coherence.has_value());
  }
  manager.close();
}

TEST_CASE("saved topics are those of the training for other documents") {
  const SharedFolder folder;
  const std::string prefix = folder.path() + "-model";
  const std::string file = folder.path() + "-shares";
  io::Vocabulary vocabulary;
  for (std::uint64_t word = 0; word < kTopics * kTopicWords; ++word)
    vocabulary.add("w" + std::to_string(word));
  std::vector<std::vector<float>> rows;
  TopicPriors priors;
  {
    adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
    auto options = small_training({2});
    options.optimize_every = 10;
    TopicTrainer trainer(manager, part_of_documents(manager, options), options);
    trainer.run();
    run_on_rank_0(manager.server(), [&](Worker& worker) {
      TopicFiles(prefix, trainer.priors()).write(worker, trainer.tables(), trainer.priors(), vocabulary);
    });
    priors = trainer.priors();
    rows = words_of_topics(manager, trainer.tables(), priors);
    manager.close();
  }
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  const SavedTopics saved = read_saved_topics(manager.server(), prefix);
  CHECK(saved.priors.alpha == priors.alpha);
  CHECK(saved.priors.beta == priors.beta);
  CHECK(saved.priors.words == kTopics * kTopicWords);
  REQUIRE(saved.vocabulary.size() == kTopics * kTopicWords);
  CHECK(saved.vocabulary.name(5) == "w5");
  const TopicTables tables = create_topic_tables(manager, "topics", saved.priors, std::nullopt);
  load_saved_counts(manager.server(), prefix, tables);
  CHECK(words_of_topics(manager, tables, saved.priors) == rows);
  const auto options = small_training({2});
  write_document_topics(manager, tables, saved.priors, part_of_documents(manager, options), options.workers,
                        file);
  if (manager.rank() == Rank{0}) {
    std::ifstream lines(file);
    const io::BagOfWords all = all_documents();
    for (std::size_t document = 0; document < all.documents(); ++document) {
      const auto words = all.document(document);
      const std::vector<double> expected = mixture_of({words.begin(), words.end()}, rows, priors);
      std::string line;
      REQUIRE(std::getline(lines, line));
      std::istringstream fields(line);
      std::size_t number = 0;
      fields >> number;
      CHECK(number == document + 1);
      for (const double share : expected) {
        double found = -1;
        fields >> found;
        CHECK(std::abs(found - share) < 1e-6);
      }
      CHECK((fields >> std::ws).eof());
    }
    CHECK(lines.peek() == std::ifstream::traits_type::eof());
  }
  manager.close();
}

TEST_CASE("damaged files of topics are refused on every rank") {
  const SharedFolder folder;
  const std::string prefix = folder.path() + "-model";
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  const auto refused = [&](const std::string& message) {
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_THROWS_WITH(read_saved_topics(manager.server(), prefix), Contains(message));
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const auto write = [&](const std::vector<std::int32_t>& counts, const std::vector<double>& priors) {
    if (manager.rank() != Rank{0}) return;
    io::write_npy<std::int32_t>(prefix + "-counts.npy", {counts.size() / 2, 2}, counts);
    io::write_npy<double>(prefix + "-priors.npy", {priors.size()}, priors);
  };
  refused("-counts.npy");
  write({3, 0, 1, 2}, {0.5, 0.1});
  refused("-priors.npy: has 2 numbers, expected alpha of each of the 2 topics");
  write({3, 0, 1, 2}, {0.5, -1, 0.1});
  refused("alpha is -1");
  write({3, 0, 1, 2}, {0.5, 0.5, 0.1});
  if (manager.rank() == Rank{0}) std::ofstream(prefix + "-vocabulary.txt") << "sea\nship\nsail\n";
  refused("-vocabulary.txt: has 3 words, but");
  if (manager.rank() == Rank{0}) std::filesystem::remove(prefix + "-vocabulary.txt");
  write({3, 0, -1, 2}, {0.5, 0.5, 0.1});
  MPI_Barrier(MPI_COMM_WORLD);
  const SavedTopics saved = read_saved_topics(manager.server(), prefix);
  CHECK(saved.vocabulary.empty());
  const TopicTables tables = create_topic_tables(manager, "topics", saved.priors, std::nullopt);
  CHECK_THROWS_WITH(load_saved_counts(manager.server(), prefix, tables),
                    Contains("counts word 2 -1 times with topic 1, expected 0 or more"));
  manager.close();
}

TEST_CASE("a text has the vocabulary that all ranks count") {
  const TemporaryDirectory directory;
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  std::string text;
  for (int i = 0; i < 50; ++i) text += "sea ship the the\nland the sea\n";
  DocumentOptions options{.file = directory.write("text", text + "rare\n"),
                          .format = DocumentFormat::text,
                          .vocabulary = "",
                          .stop_words = directory.write("stop", "the\nof\n")};
  const TopicDocuments documents = load_documents(manager.server(), options, {2});
  REQUIRE(documents.vocabulary.size() == 3);
  CHECK(documents.vocabulary.name(0) == "sea");
  CHECK(documents.vocabulary.name(1) == "land");
  CHECK(documents.vocabulary.name(2) == "ship");
  CHECK(documents.bag.lengths().size() == 101);
  CHECK(documents.empty_documents == 1);
  CHECK(documents.unknown_tokens == 151);
  const auto own = static_cast<std::int64_t>(documents.bag.documents());
  manager.server().run_workers(1, [&](Worker& worker) {
    std::array<std::int64_t, 1> all{own};
    worker.all_reduce(all);
    CHECK(all[0] == 101);
  });
  // Other documents of these words; an empty one has no topics.
  options.file = directory.write("more", "ship war\nwar\n");
  const TopicDocuments more =
      load_more_documents(manager.server(), options, documents.vocabulary, 3, "text", {2});
  CHECK(more.bag.words() == 3);
  CHECK(more.empty_documents == 1);
  CHECK_THROWS_WITH(load_more_documents(manager.server(), options, {}, 3, "text", {2}),
                    Contains("text has no vocabulary"));
  options.min_count = 1000;
  options.file = directory / "text";
  CHECK_THROWS_WITH(load_documents(manager.server(), options, {2}), Contains("occurs 1000 times"));
  manager.close();
}
