#include "bench/local_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/plain_rows.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 7;
constexpr std::size_t kAccesses = 100'000;                     // per worker and run; fewer for large values
constexpr std::size_t kMaxRunBytes = std::size_t{64} << 20U;   // values that a worker moves in a run
constexpr std::size_t kMaxCallBytes = std::size_t{64} << 20U;  // values of one call
constexpr std::size_t kSmokeBatch = 100;

struct Size {
  std::string name;
  std::size_t length;  // floats
  std::uint64_t keys;
};

const std::vector<Size> kSizes = {
    {"4 B", 1, 10'000},     {"100 B", 25, 10'000},    {"1 KB", 256, 10'000},
    {"4 KB", 1024, 10'000}, {"40 KB", 10'240, 1'000},
};

struct SizeCase {
  std::string name;
  std::size_t size;  // index in kSizes
  bool push = false;
  bool zipf = false;
  std::size_t batch;  // keys in a call
  std::int32_t workers = 1;
  bool rate = false;
};

std::vector<SizeCase> all_cases() {
  std::vector<SizeCase> cases{{.name = "local pull batch 100", .size = 1, .batch = 100, .rate = true}};
  const auto add = [&](std::size_t size, bool push, bool zipf, std::size_t batch, std::int32_t workers) {
    cases.push_back(
        {.name = fmt::format("local {} {} {} batch {}{}", push ? "push" : "pull", kSizes[size].name,
                             zipf ? "Zipf" : "uniform", batch, workers == 1 ? "" : " 2 workers"),
         .size = size,
         .push = push,
         .zipf = zipf,
         .batch = batch,
         .workers = workers});
  };
  for (std::size_t size = 0; size < kSizes.size(); ++size) {
    for (const bool push : {false, true}) {
      for (const bool zipf : {false, true}) {
        for (const std::size_t batch : {1, 10, 100, 1000, 10'000}) {
          if (batch * kSizes[size].length * sizeof(float) > kMaxCallBytes) continue;
          add(size, push, zipf, batch, 1);
          if (batch == 1 || batch == 100) add(size, push, zipf, batch, 2);
        }
      }
    }
  }
  return cases;
}

class LocalSizes {
 public:
  explicit LocalSizes(Bench& bench)
      : bench_(bench), server_(MPI_COMM_WORLD, quiet_options()), tables_(kSizes.size()) {}

  void measure(const SizeCase& what) {
    const Size& size = kSizes[what.size];
    const Table<float>& table = table_of(what.size);
    PlainRows& rows = rows_of(what);
    const std::size_t batch = bench_.size(what.batch, std::min(what.batch, kSmokeBatch));
    const std::size_t max_accesses = std::min(kAccesses, kMaxRunBytes / (size.length * sizeof(float)));
    const std::size_t accesses = batch * std::max<std::size_t>(1, bench_.size(max_accesses, 100) / batch);
    const std::size_t runs = bench_.runs(kRuns);
    JointTimer timer(static_cast<std::size_t>(what.workers));
    Series series;
    const auto figure = [&](double seconds) {
      const auto count = static_cast<double>(accesses);
      return what.rate ? count * what.workers / seconds : 1e9 * seconds / count;
    };
    server_.run_workers(what.workers, [&](Worker& worker) {
      const std::size_t self = worker.local_index();
      const std::vector<Key> keys =
          what.zipf ? zipf_keys(size.keys, accesses, self) : random_keys(0, size.keys, accesses, self);
      std::vector<float> values(batch * size.length, 1.0F);
      for (std::size_t run = 0; run <= runs; ++run) {
        const bool counts = run != 0 && self == 0;
        const double seconds =
            timer.time(self, [&] { access_all(worker, table, what.push, keys, batch, values); });
        if (counts) series.values.push_back(figure(seconds));
        if (!bench_.baselines()) continue;
        const double plain_seconds =
            timer.time(self, [&] { access_all(rows, what.push, keys, batch, values); });
        if (counts) series.baselines.push_back(figure(plain_seconds));
      }
    });
    bench_.add({.name = what.name,
                .metric = what.rate ? "rate" : "latency",
                .unit = what.rate ? "keys/s" : "ns",
                .workers = what.workers},
               what.push ? "latched add" : "plain gather", series);
    expected_ += static_cast<std::uint64_t>(what.workers) * (runs + 1) * accesses;
  }

  void close() {
    const Statistics statistics = server_.statistics();
    std::uint64_t local = 0;
    for (const auto& table : tables_) {
      if (!table) continue;
      const TableCounters total = statistics.table_total(table->id());
      local += total.local_pulls + total.local_pushes;
    }
    server_.close();
    expect_count("local accesses", local, expected_);
  }

 private:
  const Table<float>& table_of(std::size_t size) {
    if (!tables_[size]) {
      tables_[size] = server_.create_table<float>(
          {.name = kSizes[size].name, .keys = kSizes[size].keys, .length = kSizes[size].length});
    }
    return *tables_[size];
  }
  // The plain arrays of one size at a time, because the cases are ordered by size.
  PlainRows& rows_of(const SizeCase& what) {
    const Size& size = kSizes[what.size];
    if (!rows_ || rows_->length() != size.length) rows_.emplace(size.keys, size.length);
    return *rows_;
  }

  // Both visit all keys once, in order.
  static void access_all(Worker& worker, const Table<float>& table, bool push, std::span<const Key> keys,
                         std::size_t batch, std::span<float> values) {
    if (batch == 1 && push) {
      for (const Key key : keys) worker.push(table, key, values);
    } else if (batch == 1) {
      for (const Key key : keys) {
        worker.pull(table, key, values).wait();
        touch(values.data());
      }
    } else {
      for (; !keys.empty(); keys = keys.subspan(batch)) {
        if (push) {
          worker.push(table, keys.first(batch), values).wait();
        } else {
          worker.pull(table, keys.first(batch), values).wait();
          touch(values.data());
        }
      }
    }
  }
  static void access_all(PlainRows& rows, bool push, std::span<const Key> keys, std::size_t batch,
                         std::span<float> values) {
    for (; !keys.empty(); keys = keys.subspan(batch)) {
      if (push) {
        rows.add(keys.first(batch), values);
      } else {
        rows.gather(keys.first(batch), values);
        touch(values.data());
      }
    }
  }

  Bench& bench_;
  ParameterServer server_;
  std::vector<std::optional<Table<float>>> tables_;  // by size
  std::optional<PlainRows> rows_;
  std::uint64_t expected_ = 0;
};

}  // namespace

void measure_local_sizes(Bench& bench) {
  LocalSizes sizes(bench);
  for (const SizeCase& what : all_cases()) {
    if (bench.selected(what.name)) sizes.measure(what);
  }
  sizes.close();
}

}  // namespace lapse::bench
