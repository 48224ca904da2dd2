// Word vectors on ranks, workers and loaders that are threads of one process. Made to run under
// ThreadSanitizer too.
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/word_vectors/load_corpus.hpp"
#include "apps/word_vectors/trainer.hpp"
#include "lapse/core/error.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/mpi/word_vectors_text.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::test::TemporaryDirectory;

namespace {

constexpr std::int32_t kTrainingRanks = 2;

// Runs f on every rank; returns what each has thrown, or an empty text.
std::array<std::string, kTrainingRanks> on_every_rank(
    const std::function<void(adapm::ParameterManager&)>& f) {
  adapm::Options options;
  options.server.startup_report = false;
  options.server.log_level = LogLevel::error;
  ThreadedLoopback network(kTrainingRanks, {.separate_bulk_lane = true, .delay_seed = 1});
  std::array<std::string, kTrainingRanks> problems;
  std::vector<std::thread> ranks;
  for (std::int32_t rank = 0; rank < kTrainingRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      std::string& problem = problems[static_cast<std::size_t>(rank)];
      try {
        auto transport = std::make_unique<test::BorrowedTransport>(network.endpoint(Rank(rank)));
        adapm::ParameterManager manager(std::move(transport), options);
        try {
          f(manager);
        } catch (const Error& error) {
          problem = error.what();
        }
        manager.close();
      } catch (const std::exception& error) {
        problem = error.what();
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return problems;
}

TrainingOptions options_of_threads() {
  TrainingOptions options;
  options.workers = {2};
  options.dimensions = 8;
  options.runner.epochs = 2;
  options.runner.windows.subsample = 0;
  options.runner.windows.batch = 16;
  options.runner.lookahead = 8;
  options.runner.shuffle = 20;
  return options;
}

}  // namespace

TEST_CASE("ranks, workers and loaders train together") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("text", test::text_of_topics(200))};
  std::array<double, kTrainingRanks> losses{};
  const auto problems = on_every_rank([&](adapm::ParameterManager& manager) {
    const TrainingOptions options = options_of_threads();
    const Corpus corpus = load_corpus(manager.server(), 2, {files, 5});
    Trainer trainer(manager, corpus, options);
    for (std::uint64_t epoch = 0; epoch < options.runner.epochs; ++epoch) {
      if (trainer.run_epoch().words != corpus.occurrences) throw Error("words are missing");
    }
    losses[manager.rank().index()] = trainer.epochs().back().loss;
  });
  for (const std::string& problem : problems) CHECK(problem == "");
  CHECK(losses[0] > 0);
  CHECK(losses[0] == losses[1]);
}

TEST_CASE("a text that vanishes during the training ends it on every rank") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("text", test::text_of_topics(200))};
  const auto problems = on_every_rank([&](adapm::ParameterManager& manager) {
    const Corpus corpus = load_corpus(manager.server(), 2, {files, 5});
    Trainer trainer(manager, corpus, options_of_threads());
    trainer.run_epoch();
    if (manager.rank() == Rank{0}) std::remove(files[0].c_str());
    trainer.run_epoch();
  });
  for (const std::string& problem : problems)
    CHECK_THAT(problem, Catch::Matchers::Contains("text: cannot be opened"));
}
