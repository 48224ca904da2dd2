// How the sampling schemes treat local and remote keys.
#include <mpi.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/adapm_samples.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using adapm::test::distribution_of;
using adapm::test::KeyList;
using adapm::test::kSampledKeys;
using adapm::test::sampled_table;
using adapm::test::Values;
using lapse::Clock;
using lapse::Key;
using lapse::test::expect;
using lapse::test::options_of;

namespace {

// The keys of several samples of each worker, in the order of the draws. For each sampler: the draws of this
// rank's two workers in the first phase, then in the second.
std::vector<std::vector<KeyList>> drawn_keys(const Options& options,
                                             const std::vector<SamplingOptions>& samplings) {
  ParameterManager manager(MPI_COMM_WORLD, options);
  const auto table = manager.create_table<std::int64_t>(sampled_table(false));
  std::vector<Sampler<std::int64_t>> samplers;
  for (const SamplingOptions& sampling : samplings)
    samplers.push_back(manager.create_sampler(table, distribution_of(1), sampling));
  std::vector<std::vector<KeyList>> all(samplers.size(), std::vector<KeyList>(4));
  for (const std::size_t phase : {0, 1}) {
    manager.run_workers(2, [&](IntentWorker& worker) {
      const Clock begin = worker.current_clock();
      for (std::int64_t clock = begin.value(); clock < begin.value() + 20; ++clock) {
        for (std::size_t i = 0; i < samplers.size(); ++i) {
          auto sample = worker.prepare_sample(samplers[i], 11, Clock(clock), Clock(clock + 5));
          KeyList keys(11);
          worker.take_keys(sample, keys);
          KeyList& list = all[i][2 * phase + worker.local_index()];
          list.insert(list.end(), keys.begin(), keys.end());
        }
        worker.advance_clock();
      }
    });
  }
  manager.close();
  return all;
}

std::size_t different_keys(const KeyList& keys) {
  return std::set<Key>(keys.begin(), keys.end()).size();
}

}  // namespace

TEST_CASE("Draws depend on seed, worker, phase and number of the sample, not on where keys are") {
  std::vector<SamplingOptions> samplings;
  for (const SamplingScheme scheme :
       {SamplingScheme::naive, SamplingScheme::prelocalised, SamplingScheme::pool}) {
    for (const bool with_replacement : {false, true}) {
      for (const std::uint64_t seed : {5, 6}) {
        samplings.push_back({.scheme = scheme,
                             .with_replacement = with_replacement,
                             .pool_keys = 17,
                             .pool_uses = 3,
                             .seed = seed});
      }
    }
  }
  const auto drawn = drawn_keys(options_of(Technique::adaptive), samplings);
  CHECK(drawn == drawn_keys(options_of(Technique::static_partitioning), samplings));
  for (std::size_t i = 0; i < samplings.size(); i += 2) {
    // Other workers, phases and seeds draw different keys.
    CHECK(std::set<KeyList>(drawn[i].begin(), drawn[i].end()).size() == 4);
    CHECK(drawn[i][0] != drawn[i + 1][0]);
  }
  // The schemes naive and prelocalised differ only in intents.
  for (std::size_t i = 0; i < 4; ++i) CHECK(drawn[i] == drawn[4 + i]);
  // A sampler's number is part of its seed.
  const auto by_number = drawn_keys(options_of(Technique::adaptive), {{}, {}, {.seed = 0}, {.seed = 1}});
  CHECK(by_number[0] == by_number[2]);
  CHECK(by_number[1] == by_number[3]);
  CHECK(by_number[0] != by_number[1]);
}

TEST_CASE("The options of the manager say how samplers choose keys that do not say it themselves") {
  Options options = options_of(Technique::adaptive);
  options.sampling_scheme = SamplingScheme::pool;
  options.sampling_pool_keys = 10;
  options.sampling_pool_uses = 1'000'000;
  const auto drawn = drawn_keys(options, {{}, {.pool_keys = 3}, {.scheme = SamplingScheme::naive}});
  CHECK(different_keys(drawn[0][0]) <= 10);
  CHECK(different_keys(drawn[1][0]) <= 3);
  CHECK(different_keys(drawn[2][0]) > 10);
}

TEST_CASE("The scheme local accesses memory alone, where a key of the support is there") {
  for (const bool with_replacement : {false, true}) {
    ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::static_partitioning));
    const auto ranks = static_cast<std::uint64_t>(manager.ranks());
    const auto table =
        manager.create_table<std::int64_t>(lapse::test::copied_table(false, kSampledKeys, manager.ranks()));
    const SamplingOptions options{.scheme = SamplingScheme::local, .with_replacement = with_replacement};
    const auto sampler = manager.create_sampler(table, distribution_of(1), options);
    // Only rank 0 is the home of these keys.
    std::vector<double> weights(kSampledKeys, 0);
    for (std::uint64_t key = 0; key < kSampledKeys; key += ranks) weights[key] = 1;
    const auto of_rank_0 = manager.create_sampler(table, Distribution::weighted(weights), options);
    const bool far =
        !lapse::test::share_memory(lapse::test::domains_of_world(), manager.rank(), lapse::Rank(0));
    manager.run_workers(2, [&](IntentWorker& worker) {
      const std::size_t count = with_replacement ? 15 : 5;  // Without replacement, few keys are left to draw.
      for (int i = 0; i < 50; ++i) {
        KeyList keys(count);
        Values values(count);
        auto sample = worker.prepare_sample(sampler, count, Clock(i), Clock(i + 1));
        auto pull = worker.pull_sample(sample, keys, values);
        expect(pull.done(), "a pull from memory");
        for (const Key key : keys)
          expect(worker.locality(table, key) == lapse::Locality::local, "a local key");
      }
    });
    CHECK(manager.statistics().intents.total().remote_draws == 0);
    CHECK(manager.statistics().server.table_total(table.id()).remote_pulls == 0);
    manager.run_workers(1, [&](IntentWorker& worker) {
      KeyList keys(15);
      Values values(15);
      for (int i = 0; i < 10; ++i) {
        auto sample = worker.prepare_sample(of_rank_0, 15, worker.current_clock(), Clock(1000));
        worker.pull_sample(sample, keys, values).wait();
        for (const Key key : keys) expect(key.value() % ranks == 0, "a key of the support");
      }
    });
    const auto remote =
        manager.statistics().intents.ranks[static_cast<std::size_t>(manager.rank().value())].remote_draws;
    CHECK(remote == (far ? 150U : 0U));
    manager.close();
  }
}

TEST_CASE("Keys that were announced come before they are pulled") {
  for (const SamplingScheme scheme : {SamplingScheme::prelocalised, SamplingScheme::pool}) {
    ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::adaptive));
    const auto table = manager.create_table<std::int64_t>(sampled_table(false));
    const auto sampler =
        manager.create_sampler(table, distribution_of(1), {.scheme = scheme, .pool_keys = 20});
    manager.run_workers(2, [&](IntentWorker& worker) {
      auto sample = worker.prepare_sample(sampler, 30, Clock(0), Clock(1'000'000'000));
      KeyList keys(30);
      worker.take_keys(sample, keys);
      // The loop ends only if the keys arrive.
      for (const Key key : keys) {
        while (worker.locality(table, key) != lapse::Locality::local) {
          worker.advance_clock();
          std::this_thread::yield();
        }
      }
      worker.barrier();
    });
    CHECK(manager.statistics().server.table_total(table.id()).copies_here == 0);
    manager.close();
  }
}

TEST_CASE("With the option postpone, keys that are not local come last") {
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::static_partitioning));
  const auto table =
      manager.create_table<std::int64_t>(lapse::test::copied_table(false, kSampledKeys, manager.ranks()));
  const auto sampler = manager.create_sampler(table, Distribution::uniform({Key(0), Key(kSampledKeys)}),
                                              {.scheme = SamplingScheme::naive, .postpone = true});
  const bool is_one_domain = lapse::test::domains_of_world().domains() == 1;
  manager.run_workers(1, [&](IntentWorker& worker) {
    constexpr std::size_t kSampled = 200;
    auto sample = worker.prepare_sample(sampler, kSampled, Clock(0), Clock(1));
    KeyList keys(kSampled);
    Values values(kSampled);
    bool all_local = true;
    for (std::size_t i = 0; i < kSampled; ++i) {
      worker.pull_sample(sample, std::span(keys).subspan(i, 1), std::span(values).subspan(i, 1)).wait();
      const bool local = worker.locality(table, keys[i]) == lapse::Locality::local;
      expect(all_local || !local, "local keys before all others");
      all_local = all_local && local;
    }
    expect(all_local == is_one_domain, "other keys, where there are any");
  });
  manager.close();
}
