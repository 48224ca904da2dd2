// Time of access to single elements: 10,000 keys; random pairs of key and index, drawn in advance, the same
// sequence for the baseline; waiting for each call. 20 runs of 200,000 elements (remote: 100,000).
//
//   case                                        ranks  metric   baseline
//   elements pull LENGTH batch N                  1    latency  loads of the same elements of an array
//   elements push LENGTH batch N                  1    latency  adding to them, each under a latch in its row
//   elements pull runs of 10 batch 1000           1    latency  as pull 1000; ten pairs of each key together
//   elements push runs of 10 batch 1000           1    latency  as push 1000; one latch for each run
//   elements pull one key batch N                 1    latency  loads of the same elements of one row
//   elements push one key batch N                 1    latency  one latch for all of them
//   remote elements pull LENGTH batch 1000        2    latency  pull of the whole rows
//   remote elements push LENGTH batch 1000        2    latency  push of whole rows
//
// LENGTH: rows of 25 or 1000 floats, remote 25; N: 100, 1000, 10000 pairs in a call; one key: a row of
// 1,000,000 floats, N: 100, 10000. Latency is per element. Local: loops of the baselines are compiled for the
// length, without prefetching. Remote: the other rank is home and owner of the keys and waits in a barrier,
// where it helps.
#include <mpi.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/elements.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;
constexpr std::size_t kRuns = 20;
constexpr std::size_t kOneRow = 1'000'000;

struct ElementCase {
  std::string name;
  std::int32_t ranks = 1;
  bool push = false;
  std::size_t length = kLength;
  std::size_t batch = 1000;  // pairs in a call
  std::size_t run = 1;       // adjacent pairs of one key
  std::size_t elements = 200'000;
};

std::vector<ElementCase> all_cases() {
  std::vector<ElementCase> cases;
  for (const bool push : {false, true}) {
    const std::string what = push ? "push" : "pull";
    for (const std::size_t length : {std::size_t{25}, std::size_t{1000}}) {
      for (const std::size_t batch : {100U, 1000U, 10'000U}) {
        cases.push_back({.name = fmt::format("elements {} {} batch {}", what, length, batch),
                         .push = push,
                         .length = length,
                         .batch = batch});
      }
    }
    cases.push_back({.name = fmt::format("elements {} runs of 10 batch 1000", what),
                     .push = push,
                     .length = 1000,
                     .run = 10});
    for (const std::size_t batch : {100U, 10'000U}) {
      cases.push_back({.name = fmt::format("elements {} one key batch {}", what, batch),
                       .push = push,
                       .length = kOneRow,
                       .batch = batch,
                       .run = batch});
    }
    cases.push_back({.name = fmt::format("remote elements {} 25 batch 1000", what),
                     .ranks = 2,
                     .push = push,
                     .elements = 100'000});
  }
  return cases;
}

std::uint64_t keys_of(std::size_t length) {
  return length == kOneRow ? 1 : kKeys;
}

// The pairs of a run of the benchmark, in calls of equal size.
struct PairList {
  PairList(const ElementCase& what, std::uint64_t first, std::size_t count) {
    const PositionalRandom random(7);
    keys = random_keys(first, keys_of(what.length), count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % what.run != 0) keys[i] = keys[i - 1];
      indices.push_back(
          static_cast<std::uint32_t>(random.uniform(Key(i), 0) * static_cast<double>(what.length)));
    }
  }
  std::vector<Key> keys;
  std::vector<std::uint32_t> indices;
};

template <std::size_t length>
void gather(const float* rows, std::span<const Key> keys, std::span<const std::uint32_t> indices,
            float* values) {
  for (std::size_t i = 0; i < keys.size(); ++i) values[i] = rows[keys[i].index() * length + indices[i]];
}

// Rows with a latch in front.
template <std::size_t length>
void add(float* rows, std::span<const Key> keys, std::span<const std::uint32_t> indices,
         const float* updates) {
  for (std::size_t i = 0; i < keys.size();) {
    float* const row = rows + keys[i].index() * (length + 1);
    const std::atomic_ref<float> latch(*row);
    while (latch.exchange(1.0F, std::memory_order_acquire) != 0.0F) {
      while (latch.load(std::memory_order_relaxed) != 0.0F) {
      }
    }
    const Key key = keys[i];
    do row[1 + indices[i]] += updates[i];
    while (++i < keys.size() && keys[i] == key);
    latch.store(0.0F, std::memory_order_release);
  }
}

// The arrays of a program without a server.
class PlainElements {
 public:
  explicit PlainElements(std::size_t length) : length_(length), rows_(keys_of(length) * (length + 1)) {}

  void access(bool push, std::span<const Key> keys, std::span<const std::uint32_t> indices,
              std::span<float> values) {
    if (push) {
      const auto loop = length_ == 25 ? &add<25> : length_ == 1000 ? &add<1000> : &add<kOneRow>;
      loop(rows_.data(), keys, indices, values.data());
    } else {
      const auto loop = length_ == 25 ? &gather<25> : length_ == 1000 ? &gather<1000> : &gather<kOneRow>;
      loop(rows_.data(), keys, indices, values.data());
    }
  }

 private:
  std::size_t length_;
  std::vector<float> rows_;
};

class Elements {
 public:
  explicit Elements(Bench& bench) : bench_(bench), server_(MPI_COMM_WORLD, separate_options()) {}

  void measure(const ElementCase& what) {
    const auto ranks = static_cast<std::uint64_t>(bench_.ranks());
    const std::uint64_t rows = keys_of(what.length);
    // Rows of 25 floats are in one table of the server, those of 1000 in another.
    const Table<float> table = server_.create_table<float>(
        {.name = what.name, .keys = ranks * rows, .length = what.length, .home = HomeMapKind::range});
    const std::size_t batch = bench_.size(what.batch, std::min<std::size_t>(what.batch, 100));
    const std::size_t count = batch * std::max<std::size_t>(1, bench_.size(what.elements, 100) / batch);
    // The last rank is the home of the accessed keys.
    const PairList pairs(what, (ranks - 1) * rows, count);
    const std::size_t runs = bench_.runs(kRuns);
    Series series;
    server_.run_workers(1, [&](Worker& worker) {
      std::optional<PlainElements> plain;
      if (ranks == 1) plain.emplace(what.length);
      std::vector<float> values(batch, 1.0F);
      std::vector<float> whole(ranks > 1 ? batch * what.length : 0, 1.0F);
      const auto time = [&](const auto& access) {
        const Clock::time_point begin = Clock::now();
        for (std::size_t at = 0; at < count; at += batch) {
          access(std::span(pairs.keys).subspan(at, batch), std::span(pairs.indices).subspan(at, batch));
          touch(values.data());
        }
        return 1e9 * seconds_between(begin, Clock::now()) / static_cast<double>(count);
      };
      for (std::size_t run = 0; run <= runs && worker.index() == 0; ++run) {
        const double value = time([&](std::span<const Key> keys, std::span<const std::uint32_t> indices) {
          if (what.length == kOneRow) {
            if (what.push) {
              worker.push_elements(table, keys[0], indices, values).wait();
            } else {
              worker.pull_elements(table, keys[0], indices, values).wait();
            }
          } else if (what.push) {
            worker.push_elements(table, keys, indices, values).wait();
          } else {
            worker.pull_elements(table, keys, indices, values).wait();
          }
        });
        if (run != 0) series.values.push_back(value);
        if (!bench_.baselines()) continue;
        const double baseline = time([&](std::span<const Key> keys, std::span<const std::uint32_t> indices) {
          if (plain) {
            plain->access(what.push, keys, indices, values);
          } else if (what.push) {
            worker.push(table, keys, whole).wait();
          } else {
            worker.pull(table, keys, whole).wait();
          }
        });
        if (run != 0) series.baselines.push_back(baseline);
      }
      worker.barrier();
    });
    bench_.add({.name = what.name,
                .metric = "latency",
                .unit = "ns",
                .ranks = what.ranks,
                .domain = domain_of(server_.options())},
               ranks > 1   ? "whole rows"
               : what.push ? "latched add"
                           : "plain gather",
               series);
  }

  void close() { server_.close(); }

 private:
  Bench& bench_;
  ParameterServer server_;
};

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time of access to single elements", [](Bench& bench) {
    Elements elements(bench);
    for (const ElementCase& what : all_cases()) {
      if (what.ranks == bench.ranks() && bench.selected(what.name)) elements.measure(what);
    }
    elements.close();
  });
}
