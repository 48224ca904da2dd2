// Calls and options that a parameter manager refuses, with their errors.
#include <mpi.h>

#include <optional>
#include <thread>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::Rank;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 30;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

template <class Exception, class F>
void expect_refused(F&& f, std::initializer_list<std::string> parts) {
  const std::string text = thrown_text<Exception>(std::forward<F>(f));
  for (const std::string& part : parts) expect(contains(text, part), "'" + part + "' in: " + text);
}

}  // namespace

TEST_CASE("Wrong intents are refused at the caller, and nothing is signaled") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  ParameterManager other(MPI_COMM_WORLD, Options{});
  const auto table = manager.create_table<float>({.name = "factors", .keys = kKeys});
  const auto sparse = manager.create_table<float>({.name = "words", .sparse = true});
  const auto foreign = other.create_table<float>({.name = "foreign", .keys = kKeys});
  manager.run_workers(1, [&](IntentWorker& worker) {
    const std::string rank = "rank " + std::to_string(worker.rank().value());
    expect_refused<lapse::UsageError>([&] { worker.intent(table, Key(1), Clock(10), Clock(5)); },
                                      {"factors", "10", "5", rank, "before the start"});
    expect_refused<lapse::KeyOutOfRange>(
        [&] {
          worker.intent(table, std::vector<Key>{Key(1), Key(kKeys)}, Clock(0), Clock(5));
        },
        {"factors", "30", rank});
    expect_refused<lapse::KeyOutOfRange>(
        [&] {
          worker.intent(table, KeyRange{Key(29), Key(31)}, Clock(0), Clock(5));
        },
        {"factors", "key 30"});
    expect_refused<lapse::KeyOutOfRange>(
        [&] {
          worker.intent(table, KeyRange{Key(40), Key(50)}, Clock(0), Clock(5));
        },
        {"factors", "key 40"});
    expect_refused<lapse::UsageError>(
        [&] {
          worker.intent(table, KeyRange{Key(5), Key(4)}, Clock(0), Clock(5));
        },
        {"factors", "5", "4"});
    expect_refused<lapse::UsageError>([&] { worker.intent(foreign, Key(1), Clock(0), Clock(5)); },
                                      {"another server", rank});
    // A sparse table has every key. An empty list and an empty range are valid.
    worker.intent(sparse, Key(~std::uint64_t{0}), Clock(0), Clock(5));
    worker.intent(table, std::vector<Key>{}, Clock(0), Clock(5));
    worker.intent(table, KeyRange{Key(30), Key(30)}, Clock(0), Clock(5));
    // Empty intervals of clocks, and intervals that are over, are ignored.
    worker.intent(table, Key(1), Clock(7), Clock(7));
    worker.advance_clock();
    worker.intent(table, Key(1), Clock(0), Clock(1));
    // Began in the past, but is not over.
    worker.intent(table, Key(1), Clock(-5), Clock(2));
  });
  const IntentCounters total = manager.statistics().intents.total();
  const auto ranks = static_cast<std::uint64_t>(manager.ranks());
  CHECK(total.intents == 4 * ranks);
  CHECK(total.ignored_intents == 2 * ranks);
  other.close();
  manager.close();
}

TEST_CASE("A manager refuses a Table and a Sampler that nothing was assigned to") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  const lapse::Table<float> none;
  const Sampler<float> no_sampler;
  const std::vector<std::uint64_t> counts(kKeys);
  expect_refused<lapse::UsageError>([&] { manager.set_frequencies(none, counts); }, {"an empty Table"});
  expect_refused<lapse::UsageError>(
      [&] {
        manager.create_sampler(none, Distribution::uniform({Key(0), Key(1)}));
      },
      {"an empty Table"});
  manager.run_workers(1, [&](IntentWorker& worker) {
    expect_refused<lapse::UsageError>([&] { worker.intent(none, Key(1), Clock(0), Clock(5)); },
                                      {"an empty Table"});
    expect_refused<lapse::UsageError>(
        [&] { static_cast<void>(worker.prepare_sample(no_sampler, 3, Clock(0), Clock(5))); },
        {"an empty Table"});
  });
  manager.close();
}

TEST_CASE("A range of more keys than a sparse table may have is refused") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  const auto table =
      manager.create_table<float>({.name = "words", .sparse = true, .max_keys = std::uint64_t{50}});
  const auto any = manager.create_table<float>({.name = "any", .sparse = true});
  manager.run_workers(1, [&](IntentWorker& worker) {
    const std::string rank = "rank " + std::to_string(worker.rank().value());
    const auto refused = [&](const auto& from, KeyRange range, std::initializer_list<std::string> parts) {
      // None of these intents starts during the test.
      expect_refused<lapse::UsageError>([&] { worker.intent(from, range, Clock(1000), Clock(1001)); }, parts);
    };
    refused(table, {Key(100), Key(151)},
            {"words", "from 100", "before 151", "51 keys", rank, "at most 50 keys"});
    refused(any, {Key(0), Key(std::uint64_t{1} << 63)}, {"any", "from 0", "9223372036854775808", rank});
    refused(any, {Key(0), Key(~std::uint64_t{0})}, {"any", rank});
    worker.intent(table, KeyRange{Key(100), Key(150)}, Clock(0), Clock(1));
    worker.advance_clock();
    worker.advance_clock();
  });
  CHECK(manager.statistics().intents.total().intents == static_cast<std::uint64_t>(manager.ranks()));
  manager.close();
}

TEST_CASE("A handle refuses intents after the phase of its worker, and after the manager") {
  std::optional<IntentHandle> handle;
  std::optional<lapse::Table<float>> table;
  {
    ParameterManager manager(MPI_COMM_WORLD, Options{});
    table = manager.create_table<float>({.name = "factors", .keys = kKeys});
    manager.run_workers(1, [&](IntentWorker& worker) { handle = worker.loader(); });
    CHECK(
        contains(thrown_text<lapse::UsageError>([&] { handle->intent(*table, Key(1), Clock(0), Clock(5)); }),
                 "after its phase"));
    manager.run_workers(1, [&](IntentWorker&) {
      expect_refused<lapse::UsageError>([&] { handle->intent(*table, Key(1), Clock(0), Clock(5)); },
                                        {"factors", "after its phase"});
    });
    manager.close();
    CHECK_THROWS_AS(handle->intent(*table, Key(1), Clock(0), Clock(5)), lapse::ClosedError);
    CHECK_THROWS_AS(manager.run_workers(1, [](IntentWorker&) {}), lapse::ClosedError);
    CHECK_THROWS_AS(manager.statistics(), lapse::ClosedError);
    CHECK_THROWS_AS(manager.close(), lapse::ClosedError);
  }
  CHECK_THROWS_AS(handle->intent(*table, Key(1), Clock(0), Clock(5)), lapse::ClosedError);
}

TEST_CASE("Different and impossible options of the ranks are refused on every rank") {
  Options options;
  options.technique = world_rank() == 0 ? Technique::nups : Technique::adaptive;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1) {
    const std::string text =
        thrown_text<lapse::ConfigurationError>([&] { ParameterManager(MPI_COMM_WORLD, options); });
    CHECK(contains(text, "technique = nups"));
    CHECK(contains(text, "rank 1"));
  }
  options = {};
  options.timing.quantile = 1;
  CHECK_THROWS_AS(ParameterManager(MPI_COMM_WORLD, options), lapse::ConfigurationError);
  // Only the last rank's options are impossible.
  if (world_rank() < ranks - 1) {
    CHECK(contains(thrown_text<lapse::PeerFailed>([&] { ParameterManager(MPI_COMM_WORLD, Options{}); }),
                   "timing_quantile"));
  } else {
    CHECK_THROWS_AS(ParameterManager(MPI_COMM_WORLD, options), lapse::ConfigurationError);
  }
  ParameterManager(MPI_COMM_WORLD, Options{}).close();
}

TEST_CASE("Frequencies that do not fit their table are refused on every rank") {
  ParameterManager manager(MPI_COMM_WORLD, {.technique = Technique::nups});
  const auto table = manager.create_table<float>({.name = "factors", .keys = kKeys});
  const auto sparse = manager.create_table<float>({.name = "words", .sparse = true});
  const std::vector<std::uint64_t> counts(kKeys, 1);
  CHECK_THROWS_AS(manager.set_frequencies(sparse, counts), lapse::UsageError);
  CHECK(contains(
      thrown_text<lapse::UsageError>([&] { manager.set_frequencies(table, std::span(counts).first(29)); }),
      "29 frequencies for table 'factors': expected one for each key of a dense table, 30"));
  if (manager.ranks() > 1) {
    const std::vector<std::uint64_t> own(kKeys, static_cast<std::uint64_t>(manager.rank().value()));
    CHECK_THROWS_AS(manager.set_frequencies(table, own), lapse::CollectiveMismatch);
  }
  manager.set_frequencies(table, counts);
  CHECK(contains(thrown_text<lapse::UsageError>([&] { manager.set_frequencies(table, counts); }),
                 "chosen already"));
  manager.close();
}

TEST_CASE("A worker that throws, and phases within phases, end with typed errors") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  const auto table = manager.create_table<float>({.name = "factors", .keys = kKeys});
  if (world_rank() == 0) {
    CHECK_THROWS_AS(manager.run_workers(-1, [](IntentWorker&) {}), lapse::UsageError);
  } else {
    CHECK_THROWS_AS(manager.run_workers(1, [](IntentWorker&) {}), lapse::PeerFailed);
  }
  manager.run_workers(1, [&](IntentWorker& worker) {
    expect_refused<lapse::UsageError>([&] { manager.run_workers(1, [](IntentWorker&) {}); },
                                      {"while workers run"});
    worker.intent(table, key_range(0, kKeys), Clock(0), Clock(100));
  });
  CHECK_THROWS_AS(manager.run_workers(1,
                                      [&](IntentWorker& worker) {
                                        worker.intent(table, Key(1), Clock(0), Clock(5));
                                        throw std::runtime_error("the text of the test");
                                      }),
                  lapse::PeerFailed);
  manager.close();
}
