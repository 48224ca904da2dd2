#include "bench/replicas_access.hpp"

#include <span>
#include <string>
#include <vector>

#include "bench/copied_table.hpp"
#include "bench/support/joint_timer.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kCopiedKeys = 10'000;  // of each rank
constexpr std::size_t kAccesses = 100'000;
constexpr std::size_t kRuns = 20;

struct CopyAccess {
  std::string name;
  bool push = false;
  int owner = 0;  // of the keys; rank 0 accesses them
  std::size_t batch = 1;
};

const std::vector<CopyAccess> kCases = {
    {.name = "local push to a copy", .push = true, .owner = 1},
    {.name = "local push to a copy batch 100", .push = true, .owner = 1, .batch = 100},
    {.name = "local push with copies", .push = true},
    {.name = "local push with copies batch 100", .push = true, .batch = 100},
    {.name = "local pull of a copy", .owner = 1},
    {.name = "local pull of a copy batch 100", .owner = 1, .batch = 100},
};

double access(Worker& worker, const Table<float>& table, std::span<const Key> keys, const CopyAccess& what) {
  std::vector<float> values(what.batch * kLength, 1.0F);
  const Clock::time_point begin = Clock::now();
  for (std::size_t first = 0; first < keys.size(); first += what.batch) {
    if (what.batch == 1 && what.push) {
      worker.push(table, keys[first], values);
    } else if (what.batch == 1) {
      worker.pull(table, keys[first], values).wait();
    } else if (what.push) {
      worker.push(table, keys.subspan(first, what.batch), values);
    } else {
      worker.pull(table, keys.subspan(first, what.batch), values).wait();
    }
  }
  return seconds_between(begin, Clock::now());
}

// Collective. Returns the nanoseconds per key at rank 0.
double access_all(CopiedTable& copied, const Table<float>& table, std::span<const Key> keys,
                  const CopyAccess& what) {
  double seconds = 0;
  copied.manager().run_workers(1, [&](adapm::IntentWorker& worker) {
    worker.sync_barrier();
    if (worker.rank() == Rank(0)) seconds = access(worker, table, keys, what);
    worker.barrier();
  });
  return 1e9 * seconds / static_cast<double>(keys.size());
}

}  // namespace

void measure_replica_access(Bench& bench) {
  if (std::ranges::none_of(kCases, [&](const CopyAccess& what) { return bench.selected(what.name); })) return;
  const std::uint64_t keys = bench.size(kCopiedKeys, 100);
  const std::size_t accesses = bench.size(kAccesses, 1000);
  CopiedTable copied(keys, kLength);
  const auto plain = copied.manager().server().create_table<float>(
      {.name = "no copies", .keys = 2 * keys, .length = kLength, .home = HomeMapKind::range});
  copied.make_copies();
  for (const CopyAccess& what : kCases) {
    if (!bench.selected(what.name)) continue;
    const std::vector<Key> own = random_keys(0, keys, accesses, 1);
    const std::vector<Key> drawn =
        random_keys(static_cast<std::uint64_t>(what.owner) * keys, keys, accesses, 1);
    bench.measure(
        {.name = what.name,
         .metric = "latency",
         .unit = "ns",
         .ranks = 2,
         .domain = domain_of(copied.manager().options().server)},
        kRuns, [&] { return access_all(copied, copied.table(), drawn, what); }, "keys without copies",
        [&] { return access_all(copied, plain, own, what); });
  }
  const TableCounters total = copied.counted();
  copied.manager().close();
  expect_count("remote accesses", total.remote_pulls + total.remote_pushes, 0);
}

}  // namespace lapse::bench
