#include "bench/local_access.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;
constexpr std::size_t kRuns = 20;
constexpr std::size_t kAccesses = 100'000;

using Row = std::array<float, kLength>;

// The plain program for pushes has a latch of one byte in the row. No other position is faster: the latch is
// in a cache line of the value, and two keys do not share a line only for their latches.
struct LatchedRow {
  std::atomic_flag latch;
  Row value{};

  void add(const Row& update) {
    while (latch.test_and_set(std::memory_order_acquire)) {
      while (latch.test(std::memory_order_relaxed)) {
      }
    }
    for (std::size_t i = 0; i < kLength; ++i) value[i] += update[i];
    latch.clear(std::memory_order_release);
  }
};

struct LocalCase {
  std::string name;
  bool push = false;
  std::int32_t workers = 1;
  bool shared = true;  // every worker uses all keys; false: each its own part
};

const std::vector<LocalCase> kCases = {
    {.name = "local pull"},
    {.name = "local push", .push = true},
    {.name = "local pull 2 workers", .workers = 2, .shared = false},
    {.name = "local push 2 workers", .push = true, .workers = 2, .shared = false},
    {.name = "local push 2 workers shared", .push = true, .workers = 2},
};

// The server's table and the plain arrays, all of the same shape.
struct Arena {
  explicit Arena(ParameterServer& server)
      : table(server.create_table<float>({.name = "access", .keys = kKeys, .length = kLength})),
        rows(kKeys),
        latched_rows(kKeys) {}

  Table<float> table;
  std::vector<Row> rows;
  std::vector<LatchedRow> latched_rows;
};

// Each of these visits all keys once, in order. They are not inlined, so that a profile shows them
// separately.

[[gnu::noinline]] void pull_all(Worker& worker, const Arena& arena, std::span<const Key> keys) {
  Row value{};
  for (const Key key : keys) {
    worker.pull(arena.table, key, value).wait();
    touch(&value);
  }
}

[[gnu::noinline]] void push_all(Worker& worker, const Arena& arena, std::span<const Key> keys) {
  Row update{};
  update.fill(1.0F);
  for (const Key key : keys) worker.push(arena.table, key, update);
}

[[gnu::noinline]] void copy_all(const Arena& arena, std::span<const Key> keys) {
  Row value{};
  for (const Key key : keys) {
    std::memcpy(value.data(), arena.rows[key.index()].data(), kValueBytes);
    touch(&value);
  }
}

[[gnu::noinline]] void add_all(Arena& arena, std::span<const Key> keys) {
  Row update{};
  update.fill(1.0F);
  touch(&update);
  for (const Key key : keys) arena.latched_rows[key.index()].add(update);
}

void measure_case(Bench& bench, ParameterServer& server, Arena& arena, const LocalCase& what) {
  const std::size_t accesses = bench.size(kAccesses, 1000);
  const std::size_t runs = bench.runs(kRuns);
  const auto workers = static_cast<std::size_t>(what.workers);
  JointTimer timer(workers);
  Series series;
  server.run_workers(what.workers, [&](Worker& worker) {
    const std::size_t self = worker.local_index();
    const std::uint64_t part = what.shared ? kKeys : kKeys / workers;
    const std::vector<Key> keys = random_keys(what.shared ? 0 : self * part, part, accesses, self);
    for (std::size_t run = 0; run <= runs; ++run) {
      const double seconds = timer.time(
          self, [&] { what.push ? push_all(worker, arena, keys) : pull_all(worker, arena, keys); });
      // The first run is for warm-up. Wall time x workers / keys; each worker has `accesses` keys.
      const bool counts = run != 0 && self == 0;
      if (counts) series.values.push_back(1e9 * seconds / static_cast<double>(accesses));
      if (!bench.baselines()) continue;
      const double plain_seconds =
          timer.time(self, [&] { what.push ? add_all(arena, keys) : copy_all(arena, keys); });
      if (counts) series.baselines.push_back(1e9 * plain_seconds / static_cast<double>(accesses));
    }
  });
  bench.add({.name = what.name, .metric = "latency", .unit = "ns", .workers = what.workers},
            what.push ? "latched add" : "plain copy", series);
}

}  // namespace

void measure_local_access(Bench& bench) {
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  Arena arena(server);
  std::uint64_t expected = 0;
  for (const LocalCase& what : kCases) {
    if (!bench.selected(what.name)) continue;
    measure_case(bench, server, arena, what);
    expected +=
        static_cast<std::uint64_t>(what.workers) * (bench.runs(kRuns) + 1) * bench.size(kAccesses, 1000);
  }
  const TableCounters total = server.statistics().table_total(arena.table.id());
  server.close();
  expect_count("local accesses", total.local_pulls + total.local_pushes, expected);
}

}  // namespace lapse::bench
