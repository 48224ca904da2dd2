// Calls that samplers and samples refuse, with their errors.
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 30;
using KeyList = std::vector<Key>;
using Values = std::vector<float>;

Distribution::Shared all_keys() {
  return Distribution::uniform({Key(0), Key(kKeys)});
}

template <class Exception, class F>
void check_refused(F&& f, std::initializer_list<std::string> parts) {
  const std::string text = thrown_text<Exception>(std::forward<F>(f));
  for (const std::string& part : parts) expect(contains(text, part), "'" + part + "' in: " + text);
}

}  // namespace

TEST_CASE("Samplers that cannot be are refused on every rank") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  ParameterManager other(MPI_COMM_WORLD, Options{});
  const auto table = manager.create_table<float>({.name = "entities", .keys = kKeys});
  const auto foreign = other.create_table<float>({.name = "foreign", .keys = kKeys});
  check_refused<lapse::UsageError>([&] { manager.create_sampler(table, nullptr); },
                                   {"entities", "without a distribution"});
  check_refused<lapse::KeyOutOfRange>(
      [&] {
        manager.create_sampler(table, Distribution::uniform({Key(5), Key(31)}));
      },
      {"entities", "key 30"});
  check_refused<lapse::UsageError>([&] { manager.create_sampler(foreign, all_keys()); }, {"another server"});
  check_refused<lapse::UsageError>([&] { manager.create_sampler(table, all_keys(), {.pool_keys = 0}); },
                                   {"entities", "0 keys", "at least 1"});
  check_refused<lapse::UsageError>([&] { manager.create_sampler(table, all_keys(), {.pool_uses = 0}); },
                                   {"entities", "0 times", "at least 1"});
  if (manager.ranks() > 1) {
    const auto rank = static_cast<std::uint64_t>(manager.rank().value());
    check_refused<lapse::CollectiveMismatch>(
        [&] {
          manager.create_sampler(table, Distribution::uniform({Key(0), Key(20 + rank)}));
        },
        {"create_sampler", "0 to 19", "0 to 20", "entities"});
    check_refused<lapse::CollectiveMismatch>(
        [&] { manager.create_sampler(table, all_keys(), {.seed = rank}); }, {"create_sampler", "seed 1"});
    const auto wrong_on_rank_0 = [&] { manager.create_sampler(table, rank == 0 ? nullptr : all_keys()); };
    if (rank == 0) {
      check_refused<lapse::UsageError>(wrong_on_rank_0, {"without a distribution"});
    } else {
      check_refused<lapse::PeerFailed>(wrong_on_rank_0, {"without a distribution"});
    }
  }
  // The manager continues. There may be more weights of 0 than keys.
  std::vector<double> weights(kKeys + 5, 1);
  std::fill(weights.begin() + kKeys, weights.end(), 0);
  const auto sampler = manager.create_sampler(table, Distribution::weighted(weights));
  manager.run_workers(1, [&](IntentWorker& worker) {
    KeyList keys(3);
    Values values(3);
    auto sample = worker.prepare_sample(sampler, 3, Clock(0), Clock(1));
    worker.pull_sample(sample, keys, values).wait();
  });
  other.close();
  manager.close();
}

TEST_CASE("Samples that cannot be prepared are refused, and nothing is prepared") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  ParameterManager other(MPI_COMM_WORLD, Options{});
  const auto table = manager.create_table<float>({.name = "entities", .keys = kKeys});
  const auto foreign = other.create_sampler(other.create_table<float>({.keys = kKeys}), all_keys());
  const auto sampler = manager.create_sampler(table, all_keys());
  for (const SamplingScheme scheme : kSamplingSchemes) {
    const bool pool = scheme == SamplingScheme::pool;
    const auto different = manager.create_sampler(
        table, all_keys(), {.scheme = scheme, .with_replacement = false, .pool_keys = pool ? 20U : 100U});
    manager.run_workers(2, [&](IntentWorker& worker) {
      const std::size_t most = pool ? 20 : kKeys;
      check_refused<lapse::UsageError>(
          [&] { (void)worker.prepare_sample(different, most + 1, Clock(0), Clock(1)); },
          {"entities", "without replacement", std::to_string(most + 1), "at most " + std::to_string(most),
           pool ? "a pool" : "distribution", "rank " + std::to_string(worker.rank().value())});
      KeyList keys(most);
      auto sample = worker.prepare_sample(different, most, Clock(0), Clock(1));
      worker.take_keys(sample, keys);
    });
  }
  std::optional<IntentHandle> handle;
  manager.run_workers(1, [&](IntentWorker& worker) {
    handle = worker.loader();
    check_refused<lapse::OutOfMemory>(
        [&] { (void)worker.prepare_sample(sampler, ~std::size_t{0}, Clock(0), Clock(1)); },
        {"entities", "18446744073709551615 keys"});
    check_refused<lapse::UsageError>([&] { manager.create_sampler(table, all_keys()); },
                                     {"while workers run"});
    check_refused<lapse::UsageError>([&] { (void)worker.prepare_sample(sampler, 3, Clock(5), Clock(4)); },
                                     {"a sample", "entities", "5", "4", "before the start"});
    check_refused<lapse::UsageError>([&] { (void)worker.prepare_sample(foreign, 3, Clock(0), Clock(1)); },
                                     {"a sample", "another server"});
  });
  for (int phase = 0; phase < 2; ++phase) {
    check_refused<lapse::UsageError>([&] { (void)handle->prepare_sample(sampler, 3, Clock(0), Clock(1)); },
                                     {"a sample", "after its phase"});
    manager.run_workers(1, [&](IntentWorker&) {
      check_refused<lapse::UsageError>([&] { (void)handle->prepare_sample(sampler, 3, Clock(0), Clock(1)); },
                                       {"a sample", "after its phase"});
    });
  }
  const auto ranks = static_cast<std::uint64_t>(manager.ranks());
  CHECK(manager.statistics().intents.total().samples == 8 * ranks);
  other.close();
  manager.close();
  CHECK_THROWS_AS(handle->prepare_sample(sampler, 3, Clock(0), Clock(1)), lapse::ClosedError);
}

TEST_CASE("A sample of another manager is refused") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  ParameterManager other(MPI_COMM_WORLD, Options{});
  const auto sampler =
      other.create_sampler(other.create_table<float>({.name = "foreign", .keys = kKeys}), all_keys());
  std::optional<PreparedSample<float>> foreign;
  other.run_workers(
      1, [&](IntentWorker& worker) { foreign = worker.prepare_sample(sampler, 3, Clock(0), Clock(9)); });
  manager.run_workers(1, [&](IntentWorker& worker) {
    KeyList keys(1);
    Values values(1);
    check_refused<lapse::UsageError>([&] { worker.take_keys(*foreign, keys); },
                                     {"foreign", "another server", "of its own"});
    check_refused<lapse::UsageError>([&] { (void)worker.pull_sample(*foreign, keys, values); },
                                     {"another server"});
  });
  CHECK(foreign->left() == 3);
  foreign.reset();
  other.close();
  manager.close();
}

TEST_CASE("Pulls that do not fit their sample are refused, and no key of it is lost") {
  ParameterManager manager(MPI_COMM_WORLD, Options{});
  const auto table = manager.create_table<float>({.name = "entities", .keys = kKeys, .length = 2});
  const auto of_lengths = manager.create_table<float>(
      {.name = "lengths", .keys = kKeys, .lengths = [](Key key) { return 1 + key.value() % 3; }});
  for (const SamplingScheme scheme : {SamplingScheme::naive, SamplingScheme::local}) {
    const auto sampler = manager.create_sampler(table, all_keys(), {.scheme = scheme});
    const auto long_sampler = manager.create_sampler(of_lengths, all_keys(), {.scheme = scheme});
    std::optional<PreparedSample<float>> kept;
    manager.run_workers(1, [&](IntentWorker& worker) {
      auto sample = worker.prepare_sample(sampler, 10, Clock(0), Clock(1));
      KeyList keys(11);
      Values values(22);
      const auto pull = [&](std::size_t count, std::size_t elements) {
        worker.pull_sample(sample, std::span(keys).first(count), std::span(values).first(elements)).wait();
      };
      check_refused<lapse::UsageError>([&] { pull(11, 22); }, {"entities", "11 keys", "at most 10"});
      check_refused<lapse::LengthMismatch>([&] { pull(4, 7); }, {"entities", "7", "8"});
      {
        const auto lease = worker.lease(table, std::span(keys).first(1));
        check_refused<lapse::UsageError>([&] { pull(4, 8); }, {"lease"});
      }
      expect(sample.left() == 10, "all keys are left");
      pull(4, 8);
      check_refused<lapse::UsageError>([&] { worker.take_keys(sample, std::span(keys).first(7)); },
                                       {"7 keys", "at most 6", "10 were prepared and 4 pulled"});
      pull(6, 12);
      check_refused<lapse::UsageError>([&] { pull(1, 2); }, {"1 keys", "at most 0"});
      pull(0, 0);
      worker.finish_sample(sample);
      worker.finish_sample(sample);
      check_refused<lapse::UsageError>([&] { pull(1, 2); }, {"finished"});
      auto lengths = worker.prepare_sample(long_sampler, 4, Clock(0), Clock(1));
      check_refused<lapse::UsageError>(
          [&] { (void)worker.pull_sample(lengths, std::span(keys).first(4), values); },
          {"lengths", "take_keys"});
      worker.take_keys(lengths, std::span(keys).first(4));
      kept = worker.prepare_sample(sampler, 10, Clock(0), Clock(1000));
    });
    manager.run_workers(1, [&](IntentWorker& worker) {
      KeyList keys(1);
      check_refused<lapse::UsageError>([&] { worker.take_keys(*kept, keys); }, {"another phase", "entities"});
    });
    // Worker 1 uses a sample of worker 0 of this rank.
    manager.run_workers(2, [&](IntentWorker& worker) {
      if (worker.local_index() == 0) kept = worker.prepare_sample(sampler, 10, Clock(0), Clock(1000));
      worker.barrier();
      KeyList keys(1);
      if (worker.local_index() == 1) {
        check_refused<lapse::UsageError>([&] { worker.take_keys(*kept, keys); },
                                         {"prepared for worker " + std::to_string(worker.index() - 1)});
      }
      worker.barrier();
    });
  }
  manager.close();
}
