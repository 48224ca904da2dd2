// Parameter managers whose ranks, workers and loaders are threads of one process. They signal random intents
// while clocks advance. Also runs under ThreadSanitizer.
#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::test::BorrowedTransport;

namespace {

constexpr std::int32_t kRanks = 3;
constexpr std::int32_t kWorkers = 2;
constexpr std::uint64_t kKeys = 12;
constexpr std::int64_t kBatches = 60;
constexpr std::size_t kBatchKeys = 4;

// The keys that a worker accesses in a batch. Computable by its loader and by itself.
std::array<Key, kBatchKeys> keys_of(std::uint64_t seed, std::size_t worker, std::int64_t batch) {
  lapse::RandomEngine random(
      lapse::mix_bits(seed * 1000 + worker * 100'000 + static_cast<std::uint64_t>(batch)));
  std::array<Key, kBatchKeys> keys;
  for (Key& key : keys) key = Key(random.below(kKeys));
  return keys;
}

// Signals the worker's batches, each some clocks ahead or too late, and sometimes keys that the worker will
// not access.
void load(const IntentHandle& intents, const lapse::Table<std::int64_t>& table, std::uint64_t seed,
          std::size_t worker) {
  lapse::RandomEngine random(seed + worker);
  for (std::int64_t batch = 0; batch < kBatches; ++batch) {
    const auto type = random.below(4) == 0 ? IntentType::read_only : IntentType::read_write;
    const auto keys = keys_of(seed, worker, batch);
    intents.intent(table, keys, Clock(batch), Clock(batch + 1 + static_cast<std::int64_t>(random.below(5))),
                   type);
    if (random.below(8) == 0)
      intents.intent(table, KeyRange{Key(random.below(kKeys)), Key(kKeys)}, Clock(batch), Clock(batch + 2));
  }
}

// Each push adds 1: at the end, the sum of all values shows whether a push was lost or merged twice.
void work(IntentWorker& worker, const lapse::Table<std::int64_t>& table, std::uint64_t seed) {
  std::exception_ptr problem;
  std::thread loader([&, handle = worker.loader()] {
    try {
      load(handle, table, seed, worker.index());
    } catch (...) {
      problem = std::current_exception();
    }
  });
  const std::array<std::int64_t, kBatchKeys> ones{1, 1, 1, 1};
  std::array<std::int64_t, kBatchKeys> values;
  for (std::int64_t batch = 0; batch < kBatches; ++batch) {
    const auto keys = keys_of(seed, worker.index(), batch);
    worker.pull(table, keys, values).wait();
    worker.push(table, keys, ones).wait();
    worker.advance_clock();
    if (batch % 20 == 19) worker.wait_sync();
  }
  loader.join();
  if (problem) std::rethrow_exception(problem);
  worker.sync_barrier();
  std::vector<Key> all;
  for (std::uint64_t key = 0; key < kKeys; ++key) all.emplace_back(key);
  std::vector<std::int64_t> sums(kKeys);
  worker.pull(table, all, sums).wait();
  std::vector<std::int64_t> expected(kKeys);
  for (std::size_t other = 0; other < worker.count(); ++other) {
    for (std::int64_t batch = 0; batch < kBatches; ++batch)
      for (const Key key : keys_of(seed, other, batch)) ++expected[key.index()];
  }
  if (sums != expected) throw std::runtime_error("the values are not the sums of all pushes");
}

// Runs all ranks. Rethrows an exception of any of them.
Statistics run(const Options& options, std::uint64_t seed) {
  lapse::ThreadedLoopback network(kRanks, {.separate_bulk_lane = true, .delay_seed = seed});
  std::array<std::exception_ptr, kRanks> errors;
  Statistics statistics;
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ParameterManager manager(std::make_unique<BorrowedTransport>(network.endpoint(lapse::Rank(rank))),
                                 options);
        const auto table = manager.create_table<std::int64_t>({.name = "counts", .keys = kKeys});
        manager.run_workers(kWorkers, [&](IntentWorker& worker) { work(worker, table, seed); });
        Statistics all = manager.statistics();
        if (rank == 0) statistics = std::move(all);
        manager.close();
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return statistics;
}

Options quiet_options(Technique technique, std::int32_t domain_ranks) {
  Options options;
  options.technique = technique;
  options.server.domain = {lapse::DomainChoice::Kind::number, domain_ranks};
  options.server.startup_report = false;
  options.server.log_level = lapse::LogLevel::error;
  return options;
}

}  // namespace

TEST_CASE("Threads: workers advance while loaders signal intents, and no push is lost") {
  for (const Technique technique : {Technique::adaptive, Technique::immediate, Technique::relocation_only,
                                    Technique::replication_only, Technique::full_replication}) {
    for (const std::int32_t domain_ranks : {1, 2}) {
      INFO(to_string(technique) << ", " << domain_ranks << " ranks in a domain");
      Statistics statistics;
      CHECK_NOTHROW(statistics = run(quiet_options(technique, domain_ranks), 7));
      const auto counters = statistics.server.table_total(lapse::TableId(0));
      if (technique == Technique::relocation_only) CHECK(counters.relocations_in > 0);
      if (technique == Technique::replication_only || technique == Technique::full_replication) {
        CHECK(counters.copies_in > 0);
        CHECK(counters.deltas_in > 0);
      }
    }
  }
}
