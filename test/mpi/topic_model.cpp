// The topic model on several ranks.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "apps/common/table_reader.hpp"
#include "apps/topic_model/prior_optimization.hpp"
#include "apps/topic_model/top_words.hpp"
#include "apps/topic_model/trainer.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/application_techniques.hpp"
#include "test/mpi/topic_model_collection.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using Catch::Matchers::Contains;
using namespace lapse::test;

namespace {

// The tables count the tokens, each once.
void check_counts(adapm::ParameterManager& manager, const TopicTrainer& trainer) {
  const std::size_t topics_of_model = trainer.priors().topics();
  std::vector<std::int64_t> own(topics_of_model);
  std::size_t documents = 0;
  trainer.for_each_document([&](std::uint64_t, std::span<const TopicId> topics) {
    ++documents;
    CHECK(topics.size() == kTokens);
    for (const TopicId topic : topics) ++own.at(topic);
  });
  manager.server().run_workers(1, [&](Worker& worker) {
    std::vector<std::int64_t> all = own;
    worker.all_reduce(all);
    std::vector<std::int64_t> totals(topics_of_model);
    worker.pull(trainer.tables().totals, Key{0}, totals).wait();
    CHECK(totals == all);
    std::vector<std::int64_t> of_words(topics_of_model);
    read_keys(worker, trainer.tables().words, 0, kTopics * kTopicWords,
              [&](std::span<const std::int32_t> counts) {
                for (std::size_t i = 0; i < counts.size(); ++i) of_words[i % topics_of_model] += counts[i];
              });
    CHECK(of_words == all);
    CHECK(std::accumulate(all.begin(), all.end(), std::int64_t{0}) ==
          static_cast<std::int64_t>(kDocuments * kTokens));
  });
}

// Nearly all tokens have a topic with words of one of those that made the documents.
void check_topics(adapm::ParameterManager& manager, const TopicTrainer& trainer) {
  manager.server().run_workers(1, [&](Worker& worker) {
    std::int64_t pure = 0;
    for (const TopicWords& topic : read_top_words(worker, trainer.tables(), kTopics * kTopicWords)) {
      std::array<std::int64_t, kTopics> tokens{};
      for (const TopicWords::Word& word : topic.words) tokens.at(word.word / kTopicWords) += word.count;
      CHECK(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}) == topic.tokens);
      pure += *std::ranges::max_element(tokens);
    }
    CHECK(pure > 9 * static_cast<std::int64_t>(kDocuments * kTokens) / 10);
  });
}

}  // namespace

TEST_CASE("the topics that made the documents are found, under every technique") {
  for (const adapm::Technique technique :
       {adapm::Technique::adaptive, adapm::Technique::static_partitioning, adapm::Technique::full_replication,
        adapm::Technique::localize, adapm::Technique::nups}) {
    adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(technique));
    const auto options = small_training({2});
    TopicTrainer trainer(manager, part_of_documents(manager, options), options);
    std::vector<double> likelihoods;
    trainer.run([&](const TopicEpoch& record) {
      if (record.likelihood) likelihoods.push_back(*record.likelihood);
    });
    REQUIRE(likelihoods.size() == 3);
    CHECK(trainer.epochs().size() == 30);
    // About -5.6 with topics at random.
    CHECK(likelihoods.back() > -3.5);
    CHECK(trainer.likelihood() == Approx(likelihoods.back()).epsilon(1e-9));
    check_counts(manager, trainer);
    check_topics(manager, trainer);
    manager.close();
  }
}

TEST_CASE("the topics are found under every consistency policy") {
  for (const Consistency consistency :
       {Consistency::sequential, Consistency::eventual, Consistency::bsp, Consistency::cap(2)}) {
    adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
    auto options = small_training({2});
    options.consistency = consistency;
    TopicTrainer trainer(manager, part_of_documents(manager, options), options);
    trainer.run();
    CHECK(trainer.likelihood() > -3.5);
    check_counts(manager, trainer);
    const TableCounters counters = manager.statistics().server.table_total(trainer.tables().words.id());
    CHECK((counters.clocks > 0) == consistency.staleness().has_value());
    CHECK(counters.clock_lag_max <= consistency.staleness().value_or(0));
    manager.close();
  }
}

TEST_CASE("workers may be on some ranks only") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  std::vector<std::int32_t> workers(static_cast<std::size_t>(manager.ranks()), 0);
  workers.back() = 3;
  const auto options = small_training(workers);
  TopicTrainer trainer(manager, part_of_documents(manager, options), options);
  trainer.run();
  check_counts(manager, trainer);
  check_topics(manager, trainer);
  manager.close();
}

TEST_CASE("there may be more workers than documents") {
  const bool clocked = GENERATE(false, true);
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  auto options = small_training({40});
  // Workers advance their clocks differently often, some never.
  if (clocked) options.consistency = Consistency::bsp;
  options.epochs = 2;
  TopicTrainer trainer(manager, part_of_documents(manager, options), options);
  trainer.run();
  check_counts(manager, trainer);
  manager.close();
}

TEST_CASE("there may be many topics") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  auto options = small_training({2});
  options.topics = 400;
  TopicTrainer trainer(manager, part_of_documents(manager, options), options);
  trainer.run();
  check_counts(manager, trainer);
  manager.close();
}

TEST_CASE("priors are optimized alike on every rank") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  auto options = small_training({2});
  options.optimize_every = 5;
  options.optimize_after = 10;
  TopicTrainer trainer(manager, part_of_documents(manager, options), options);
  std::vector<std::uint64_t> optimized;
  trainer.run([&](const TopicEpoch& record) {
    if (record.priors) optimized.push_back(record.epoch);
  });
  CHECK(optimized == std::vector<std::uint64_t>{15, 20, 25, 30});
  check_counts(manager, trainer);
  check_topics(manager, trainer);
  const double before = trainer.likelihood();
  trainer.optimize_priors();
  CHECK(trainer.likelihood() >= before - 1e-6);
  // Every document has one topic.
  CHECK(trainer.priors().all_alpha() < 1);
  CHECK(trainer.priors().beta != options.beta);
  const auto texts = manager.server().exchange("compare", [&] {
    std::string text = std::to_string(trainer.priors().beta);
    for (const double alpha : trainer.priors().alpha) text += ' ' + std::to_string(alpha);
    return text;
  });
  for (const std::string& text : texts) CHECK(text == texts.front());
  manager.close();
}

TEST_CASE("estimates of priors depend on the topics of all documents alone") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  // First topics depend neither on ranks nor on workers.
  auto options = small_training({2});
  options.epochs = 0;
  TopicTrainer trainer(manager, part_of_documents(manager, options), options);
  trainer.run();
  trainer.optimize_priors();
  PriorCounts counts(options.topics);
  std::vector<std::vector<std::int32_t>> words(kTopics * kTopicWords,
                                               std::vector<std::int32_t>(options.topics));
  std::vector<std::int64_t> totals(options.topics);
  const io::BagOfWords all = all_documents();
  for (std::size_t document = 0; document < all.documents(); ++document) {
    RandomEngine random(options.worker.seed, document);
    // In the order of words, as workers draw them.
    std::vector<io::Vocabulary::Id> tokens;
    for (const io::WordCount& word : all.document(document)) tokens.push_back(word.word);
    std::ranges::sort(tokens);
    std::vector<std::int32_t> topics(options.topics);
    for (const io::Vocabulary::Id word : tokens) {
      const std::size_t topic = random.below(options.topics);
      ++topics[topic];
      ++words[word][topic];
      ++totals[topic];
    }
    counts.add_document(topics);
  }
  for (const auto& topics : words) counts.add_words(topics);
  counts.add_totals(totals);
  const TopicPriors expected = optimized_priors(options.priors(all.words()), counts);
  CHECK(trainer.priors().alpha == expected.alpha);
  CHECK(trainer.priors().beta == expected.beta);
  manager.close();
}

TEST_CASE("invalid options are refused on every rank") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  auto options = small_training();
  io::BagOfWords bag = part_of_documents(manager, options);
  options.beta = 1e30;
  REQUIRE_THROWS_WITH(TopicTrainer(manager, std::move(bag), options), Contains("beta is 1e+30"));
  manager.close();
}
