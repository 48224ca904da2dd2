// Word vectors on ranks, workers and loaders that are threads of one process. Also runs under
// ThreadSanitizer.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/common/load_corpus.hpp"
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

// Runs f on every rank. Returns the message that each has thrown, empty if none.
std::array<std::string, kTrainingRanks> on_every_rank(
    const std::function<void(adapm::ParameterManager&)>& f) {
  adapm::Options options;
  options.server.startup_report = false;
  options.server.log_level = LogLevel::error;
  ThreadedLoopback network(kTrainingRanks, {.separate_bulk_lane = true, .delay_seed = 1});
  std::array<std::string, kTrainingRanks> problems;
  std::vector<std::thread> ranks;
  ranks.reserve(kTrainingRanks);
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

// Calls f(worker, runner) for two workers of each rank. Returns the sum of its results over all ranks.
std::uint64_t words_of_runners(adapm::ParameterManager& manager, const Corpus& corpus,
                               const std::function<std::uint64_t(adapm::IntentWorker&, EpochRunner&)>& f) {
  const TrainingOptions options = options_of_threads();
  const Trainer trainer(manager, corpus, options);
  const Subsampling subsampling(corpus, 0);
  const adapm::Distribution::Shared noise = noise_distribution(corpus, 0.75);
  std::array<double, 1> words{};
  manager.run_workers(2, [&](adapm::IntentWorker& worker) {
    const WorkerTask task{corpus,           subsampling,    *noise,
                          trainer.tables(), nullptr,        manager.options().technique,
                          worker.index(),   worker.count(), worker.ranks()};
    EpochRunner runner(task, options.runner);
    std::array<double, 1> own{static_cast<double>(f(worker, runner))};
    worker.all_reduce(own);
    if (worker.local_index() == 0) words = own;
  });
  return static_cast<std::uint64_t>(words[0]);
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
  for (const std::string& problem : problems) {
    INFO(problem);
    CHECK(problem.empty());
  }
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

TEST_CASE("a worker that has left goes on behind its last batch, without reading again") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("text", test::text_of_topics(200))};
  const auto problems = on_every_rank([&](adapm::ParameterManager& manager) {
    const Corpus corpus = load_corpus(manager.server(), 2, {files, 5});
    std::atomic<bool> is_right = true;
    const std::uint64_t words =
        words_of_runners(manager, corpus, [&](adapm::IntentWorker& worker, EpochRunner& runner) {
          EpochProgress progress;
          for (std::uint64_t parts = 1; !progress.ended; ++parts) {
            runner.run(worker, 0, progress, [&](std::uint64_t batches) {
              if (runner.made_again() != 0) is_right = false;
              return batches == 3;
            });
            if (!progress.ended && progress.batches != 3 * parts) is_right = false;
          }
          return progress.words;
        });
    if (words != corpus.occurrences) throw Error("words are missing, or were trained twice");
    if (!is_right) throw Error("a worker has begun anew, or has not left");
  });
  for (const std::string& problem : problems) {
    INFO(problem);
    CHECK(problem.empty());
  }
}

TEST_CASE("a worker leaves while it reads again, and begins that anew") {
  const TemporaryDirectory directory;
  const std::vector<std::string> files{directory.write("text", test::text_of_topics(200))};
  const auto problems = on_every_rank([&](adapm::ParameterManager& manager) {
    const Corpus corpus = load_corpus(manager.server(), 2, {files, 5});
    const std::uint64_t done = corpus.occurrences / 4 / 2;  // half of the part of each of four workers
    std::atomic<bool> is_right = true;
    words_of_runners(manager, corpus, [&](adapm::IntentWorker& worker, EpochRunner& runner) {
      EpochProgress progress;
      progress.words = done;
      int asked = 0;
      runner.run(worker, 0, progress, [&](std::uint64_t /*batches*/) {
        if (runner.made_again()) is_right = false;
        return ++asked >= 3;
      });
      if (progress.words != done || progress.batches != 0 || progress.ended || asked > 4) is_right = false;
      runner.run(worker, 0, progress);
      if (!progress.ended || progress.words < 2 * done - 200 || progress.batches == 0) is_right = false;
      return progress.words;
    });
    if (!is_right) throw Error("a worker has not left, or has lost its place");
  });
  for (const std::string& problem : problems) {
    INFO(problem);
    CHECK(problem.empty());
  }
}
