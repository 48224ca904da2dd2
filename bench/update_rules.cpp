// Compares Adagrad in the server with Adagrad in the application: 10,000 keys of 25 floats, random keys,
// waiting for each call; 20 runs of 100,000 keys (remote, one key at a time: 20,000).
//
//   case                                   ranks  metric    baseline
//   adagrad push                             1    latency   pull and push of value and accumulator
//   adagrad push batch 100                   1    latency   the same
//   remote adagrad push                      2    latency   the same
//   remote adagrad push batch 100            2    latency   the same
//   remote adagrad push messages             2    messages  the same
//   remote adagrad push batch 100 messages   2    messages  the same
//
// A push carries a gradient. The baseline is a program for a server without update rules: a table of length
// 50 holds values and accumulators; the program computes the changes of both, and a push adds them. Unlike
// the server, it loses a step if two workers push to a key at the same time. Latency is per key; messages are
// those of both ranks per call. Remote: the other rank is home and owner of the keys and waits in a barrier,
// where it helps.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;
constexpr std::size_t kRuns = 20;
constexpr Adagrad kAdagrad{.learning_rate = 0.01, .initial_accumulator = 0.1};

struct RuleCase {
  std::string name;
  std::int32_t ranks;
  std::size_t batch;  // keys in a call
  std::size_t keys;   // of a run
};

const std::vector<RuleCase> kCases = {
    {.name = "adagrad push", .ranks = 1, .batch = 1, .keys = 100'000},
    {.name = "adagrad push batch 100", .ranks = 1, .batch = 100, .keys = 100'000},
    {.name = "remote adagrad push", .ranks = 2, .batch = 1, .keys = 20'000},
    {.name = "remote adagrad push batch 100", .ranks = 2, .batch = 100, .keys = 100'000},
};

// The cost of one run.
struct Cost {
  double seconds = 0;
  double messages = 0;  // of both ranks
};

// A program for a server that can only add: value and accumulator of a key are one row. The arithmetic is
// that of the server's rule.
class AdagradByHand {
 public:
  AdagradByHand(const Table<float>& table, std::size_t batch)
      : table_(table), rows_(batch * 2 * kLength), changes_(rows_.size()) {}

  void push(Worker& worker, std::span<const Key> keys, std::span<const float> gradients) {
    if (keys.size() == 1) {
      worker.pull(table_, keys[0], rows_).wait();
    } else {
      worker.pull(table_, keys, rows_).wait();
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      step(rows_.data() + i * 2 * kLength, gradients.data() + i * kLength, changes_.data() + i * 2 * kLength);
    }
    if (keys.size() == 1) {
      worker.push(table_, keys[0], changes_).wait();
    } else {
      worker.push(table_, keys, changes_).wait();
    }
  }

 private:
  static void step(const float* row, const float* gradient, float* __restrict change) {
    constexpr auto kRate = static_cast<float>(kAdagrad.learning_rate);
    constexpr auto kEpsilon = static_cast<float>(kAdagrad.epsilon);
    for (std::size_t k = 0; k < kLength; ++k) {
      const float square = gradient[k] * gradient[k];
      change[k] = -kRate * gradient[k] / (std::sqrt(row[kLength + k] + square) + kEpsilon);
      change[kLength + k] = square;
    }
  }

  const Table<float>& table_;
  std::vector<float> rows_;
  std::vector<float> changes_;
};

class UpdateRules {
 public:
  explicit UpdateRules(Bench& bench)
      : bench_(bench),
        server_(MPI_COMM_WORLD, separate_options()),
        with_rule_(server_.create_table<float>({.name = "with rule",
                                                .keys = keys_of_table(),
                                                .length = kLength,
                                                .home = HomeMapKind::range,
                                                .update_rule = UpdateRule::adagrad(kAdagrad)})),
        by_hand_(server_.create_table<float>({.name = "by hand",
                                              .keys = keys_of_table(),
                                              .length = 2 * kLength,
                                              .home = HomeMapKind::range})) {
    set_accumulators();
  }

  void measure(const RuleCase& what) {
    const std::size_t count = bench_.size(what.keys, 10 * what.batch);
    const std::vector<Key> keys = random_keys(first_key(), kKeys, count, 0);
    const std::vector<float> gradients(what.batch * kLength, 0.5F);
    AdagradByHand adagrad(by_hand_, what.batch);
    const auto push = [&](Worker& worker, std::span<const Key> batch) {
      if (batch.size() == 1) {
        worker.push(with_rule_, batch[0], gradients).wait();
      } else {
        worker.push(with_rule_, batch, gradients).wait();
      }
    };
    const auto push_by_hand = [&](Worker& worker, std::span<const Key> batch) {
      adagrad.push(worker, batch, gradients);
    };

    Series nanoseconds;
    Series messages;
    const std::size_t runs = bench_.runs(kRuns);
    const auto add = [&](std::size_t run, const Cost& cost, std::vector<double>& times,
                         std::vector<double>& sent) {
      if (run == 0) return;  // to warm up
      times.push_back(1e9 * cost.seconds / static_cast<double>(count));
      sent.push_back(cost.messages / static_cast<double>(count / what.batch));
    };
    for (std::size_t run = 0; run <= runs; ++run) {
      add(run, measure_run(keys, what.batch, push), nanoseconds.values, messages.values);
      if (bench_.baselines()) {
        add(run, measure_run(keys, what.batch, push_by_hand), nanoseconds.baselines, messages.baselines);
      }
    }
    const std::string baseline = "pull and push";
    bench_.add({.name = what.name,
                .metric = "latency",
                .unit = "ns",
                .ranks = what.ranks,
                .domain = domain_of(server_.options())},
               baseline, nanoseconds);
    if (what.ranks > 1) {
      bench_.add({.name = what.name + " messages",
                  .metric = "messages",
                  .unit = "messages/call",
                  .ranks = what.ranks,
                  .domain = domain_of(server_.options())},
                 baseline, messages);
    }
    pushes_ += (runs + 1) * count;
  }

  void close() {
    const TableCounters rule = server_.statistics().table_total(with_rule_.id());
    server_.close();
    expect_count("pushes to the table with a rule",
                 bench_.ranks() > 1 ? rule.remote_pushes : rule.local_pushes, pushes_);
  }

 private:
  std::uint64_t keys_of_table() const { return kKeys * static_cast<std::uint64_t>(bench_.ranks()); }
  // The first accessed key. The last rank is the home of the accessed keys.
  std::uint64_t first_key() const { return keys_of_table() - kKeys; }

  // The rows of the baseline's table start like those of the table with the rule.
  void set_accumulators() {
    std::vector<float> row(2 * kLength);
    std::fill(row.begin() + kLength, row.end(), static_cast<float>(kAdagrad.initial_accumulator));
    server_.run_workers(1, [&](Worker& worker) {
      if (worker.index() != 0) return;
      for (const Key key : shuffled_keys(first_key(), kKeys, 0)) worker.push(by_hand_, key, row);
    });
  }

  // Collective. Rank 0 pushes to all keys, one batch after the other.
  template <class Push>
  Cost measure_run(std::span<const Key> keys, std::size_t batch, const Push& push) {
    Cost cost;
    const std::uint64_t before = server_.statistics().rank_total().messages_sent;
    server_.run_workers(1, [&](Worker& worker) {
      worker.barrier();
      if (worker.index() == 0) {
        const Clock::time_point begin = Clock::now();
        for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(batch)) {
          push(worker, left.first(batch));
        }
        cost.seconds = seconds_between(begin, Clock::now());
      }
      worker.barrier();
    });
    cost.messages = static_cast<double>(server_.statistics().rank_total().messages_sent - before);
    return cost;
  }

  Bench& bench_;
  ParameterServer server_;
  Table<float> with_rule_;
  Table<float> by_hand_;
  std::uint64_t pushes_ = 0;
};

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Adagrad in the server and in the application", [](Bench& bench) {
    UpdateRules rules(bench);
    for (const RuleCase& what : kCases) {
      if (what.ranks == bench.ranks() && bench.selected(what.name)) rules.measure(what);
    }
    rules.close();
  });
}
