#include "bench/sparse_access.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;
constexpr std::size_t kRuns = 20;
constexpr std::size_t kAccesses = 100'000;
constexpr std::size_t kBatch = 100;

using Row = std::array<float, kLength>;

enum class Way { pull, push, pull_batch };

struct SparseCase {
  std::string name;
  Way way;
};

const std::vector<SparseCase> kCases = {
    {"sparse pull", Way::pull},
    {"sparse push", Way::push},
    {"sparse pull batch 100", Way::pull_batch},
};

// Each of these visits all keys once, in order. They are not inlined, so that a profile shows them
// separately.

[[gnu::noinline]] void pull_all(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
  Row value{};
  for (const Key key : keys) {
    worker.pull(table, key, value).wait();
    touch(&value);
  }
}

[[gnu::noinline]] void push_all(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
  Row update{};
  update.fill(1.0F);
  for (const Key key : keys) worker.push(table, key, update);
}

[[gnu::noinline]] void pull_batches(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
  std::array<float, kBatch * kLength> values{};
  for (; !keys.empty(); keys = keys.subspan(kBatch)) {
    worker.pull(table, keys.first(kBatch), values).wait();
    touch(&values);
  }
}

// A dense table, and a sparse one in which key k of the dense table is mix_bits(k + 1).
class SparseAccess {
 public:
  explicit SparseAccess(Bench& bench)
      : bench_(bench),
        server_(MPI_COMM_WORLD, quiet_options()),
        dense_(server_.create_table<float>({.name = "dense", .keys = kKeys, .length = kLength})),
        sparse_(server_.create_table<float>({.name = "sparse", .sparse = true, .length = kLength})) {
    server_.run_workers(1, [&](Worker& worker) {
      const std::vector<Key> keys = sparse_keys(shuffled_keys(0, kKeys, 0));
      worker.push(sparse_, keys, std::vector<float>(kKeys * kLength, 1.0F)).wait();
    });
  }

  void measure(const SparseCase& what) {
    const std::size_t accesses = bench_.size(kAccesses, 1000);
    const std::vector<Key> keys = random_keys(0, kKeys, accesses, 0);
    const std::vector<Key> mixed = sparse_keys(keys);
    server_.run_workers(1, [&](Worker& worker) {
      bench_.measure(
          {.name = what.name, .metric = "latency", .unit = "ns"}, kRuns,
          [&] { return run(worker, sparse_, mixed, what.way); }, "dense table",
          [&] { return run(worker, dense_, keys, what.way); });
    });
    expected_ += (bench_.runs(kRuns) + 1) * accesses;
  }

  void close() {
    const TableCounters total = server_.statistics().table_total(sparse_.id());
    server_.close();
    expect_count("local accesses", total.local_pulls + total.local_pushes, expected_);
  }

 private:
  static std::vector<Key> sparse_keys(std::vector<Key> keys) {
    for (Key& key : keys) key = Key(mix_bits(key.value() + 1));
    return keys;
  }

  // Returns the nanoseconds per key.
  static double run(Worker& worker, const Table<float>& table, std::span<const Key> keys, Way way) {
    const Clock::time_point begin = Clock::now();
    switch (way) {
      case Way::pull:
        pull_all(worker, table, keys);
        break;
      case Way::push:
        push_all(worker, table, keys);
        break;
      case Way::pull_batch:
        pull_batches(worker, table, keys);
        break;
    }
    return 1e9 * seconds_between(begin, Clock::now()) / static_cast<double>(keys.size());
  }

  Bench& bench_;
  ParameterServer server_;
  Table<float> dense_;
  Table<float> sparse_;
  std::uint64_t expected_ = kKeys;  // the pushes that create the keys
};

}  // namespace

void measure_sparse_access(Bench& bench) {
  SparseAccess access(bench);
  for (const SparseCase& what : kCases) {
    if (bench.selected(what.name)) access.measure(what);
  }
  access.close();
}

}  // namespace lapse::bench
