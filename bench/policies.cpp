// Consistency policies beside each other: logistic regression by stochastic gradients,
// with and without a slow worker.
//
//   case                              ranks  metric   baseline
//   POLICY, replicas                   4     latency  the same with `eventual`
//   POLICY, replicas, one is slow      4     latency  the same with `eventual`
//   POLICY, adaptive                   4     latency  the same with `eventual`
//   POLICY, adaptive, one is slow      4     latency  the same with `eventual`
//
// Of each clock, in microseconds, of the slowest worker. One worker on each rank, which is a domain. A clock
// is a batch of 20 examples of 10 features each, drawn by Zipf's distribution from 2,000; the worker pulls
// the weights, computes for 200 us (it only waits, as the ranks share processors), a slow one, that of rank
// 1, for 800 us; pushes the changes, and advances its clock. `replicas`: every rank has all keys (but ssp,
// sequential: none). `adaptive`: intents one clock ahead.
//
// After each case a line says: what share of the time workers waited at the policy's gates; messages and
// bytes sent of each clock and rank; by how many clocks reads were behind, mean and most; the mean loss over
// the last fifth of the examples, before they were learnt.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/random.hpp"

namespace lapse::bench {

namespace {

using adapm::IntentWorker;
using adapm::ParameterManager;

constexpr std::uint64_t kFeatures = 2000;
constexpr std::size_t kExamples = 20;
constexpr std::size_t kOfExample = 10;
constexpr float kRate = 0.05F;
constexpr std::chrono::microseconds kComputation{200};
constexpr int kSlower = 4;

// The weight from which labels are drawn.
float true_weight(Key feature) {
  return static_cast<float>(PositionalRandom(3).uniform(feature, 0)) * 4 - 2;
}

// One worker's examples, its model's view of them, and the loss.
class Learner {
 public:
  Learner(std::size_t worker, std::size_t clocks)
      : random_(1, worker), features_(zipf_keys(kFeatures, clocks * kExamples * kOfExample, 10 + worker)) {}

  // The features of the examples of a clock, each once.
  std::vector<Key> keys(std::size_t clock) const {
    const auto all = std::span(features_).subspan(clock * kExamples * kOfExample, kExamples * kOfExample);
    std::vector<Key> keys(all.begin(), all.end());
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }
  // Returns the changes of the weights of these keys, and adds the loss of the examples to `loss`.
  std::vector<float> changes(std::size_t clock, std::span<const Key> keys, std::span<const float> weights,
                             double& loss) {
    std::vector<float> changes(keys.size());
    for (std::size_t example = 0; example < kExamples; ++example) {
      const auto features =
          std::span(features_).subspan((clock * kExamples + example) * kOfExample, kOfExample);
      float sum = 0;
      float truth = 0;
      for (const Key feature : features) {
        sum += weights[place(keys, feature)];
        truth += true_weight(feature);
      }
      const bool label = random_.uniform() < 1 / (1 + std::exp(-static_cast<double>(truth)));
      const float probability = 1 / (1 + std::exp(-sum));
      loss -= std::log(std::max(1e-6, static_cast<double>(label ? probability : 1 - probability)));
      const float error = (label ? 1.0F : 0.0F) - probability;
      for (const Key feature : features) changes[place(keys, feature)] += kRate * error;
    }
    return changes;
  }

 private:
  static std::size_t place(std::span<const Key> keys, Key feature) {
    return static_cast<std::size_t>(std::ranges::lower_bound(keys, feature) - keys.begin());
  }

  RandomEngine random_;
  std::vector<Key> features_;
};

// Stands for computation: leaves the processor to the other ranks.
void compute(std::chrono::microseconds time) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, time, [] { return false; });
}

struct Setting {
  std::string policy;
  bool is_adaptive = false;
  bool has_slow = false;

  std::string name() const {
    return fmt::format("{}, {}{}", policy, is_adaptive ? "adaptive" : "replicas",
                       has_slow ? ", one is slow" : "");
  }
};

// Microseconds of a clock.
double run(Bench& bench, const Setting& setting, std::string& line) {
  const std::size_t clocks = bench.size(500, 10);
  const std::size_t last = clocks / 5;
  adapm::Options options;
  options.server = separate_options();
  options.technique = setting.is_adaptive ? adapm::Technique::adaptive : adapm::Technique::full_replication;
  ParameterManager manager(MPI_COMM_WORLD, options);
  const auto table =
      manager.create_table<float>({.keys = kFeatures, .consistency = Consistency::parse(setting.policy)});
  const Statistics before = manager.statistics().server;
  double time = 0;
  double loss = 0;
  manager.run_workers(1, [&](IntentWorker& worker) {
    Learner learner(worker.index(), clocks);
    const int times = setting.has_slow && worker.rank() == Rank(1) ? kSlower : 1;
    std::vector<float> weights;
    worker.sync_barrier();
    const Clock::time_point begin = Clock::now();
    for (std::size_t clock = 0; clock < clocks; ++clock) {
      if (setting.is_adaptive && clock + 1 < clocks) {
        const lapse::Clock next(worker.current_clock().value() + 1);
        worker.intent(table, learner.keys(clock + 1), next, lapse::Clock(next.value() + 1));
      }
      const std::vector<Key> keys = learner.keys(clock);
      weights.resize(keys.size());
      worker.pull(table, keys, weights).wait();
      double of_batch = 0;
      const std::vector<float> changes = learner.changes(clock, keys, weights, of_batch);
      if (clock >= clocks - last) loss += of_batch;
      compute(times * kComputation);
      worker.push(table, keys, changes);
      worker.advance_clock();
    }
    worker.barrier();
    time = seconds_between(begin, Clock::now());
    std::vector<double> sums{loss};
    worker.all_reduce(sums);
    loss = sums[0];
  });
  const Statistics after = manager.statistics().server;
  const TableCounters counters = after.table_total(table.id());
  const auto ranks = static_cast<double>(bench.ranks());
  const double all_clocks = ranks * static_cast<double>(clocks);
  const RankCounters sent = after.rank_total();
  const RankCounters sent_before = before.rank_total();
  const double waited =
      1e-9 * static_cast<double>(counters.clock_waiting_nanoseconds + counters.value_waiting_nanoseconds);
  line = fmt::format(
      "    waited {:.0f} %, {:.1f} messages and {:.0f} bytes of each clock and rank, behind by {:.2f} (most "
      "{}), loss {:.4f}",
      100 * waited / (time * ranks),
      static_cast<double>(sent.messages_sent - sent_before.messages_sent) / all_clocks,
      static_cast<double>(sent.bytes_sent - sent_before.bytes_sent) / all_clocks,
      counters.clocks == 0 ? 0.0
                           : static_cast<double>(counters.clock_lags) / static_cast<double>(counters.clocks),
      counters.clock_lag_max, loss / (ranks * static_cast<double>(last * kExamples)));
  manager.close();
  return 1e6 * time / static_cast<double>(clocks);
}

void measure(Bench& bench, const Setting& setting) {
  if (bench.ranks() < 2 || !bench.selected(setting.name())) return;
  constexpr std::size_t kRuns = 3;
  std::string line;
  std::string unused;
  bench.measure(
      {.name = setting.name(),
       .metric = "latency",
       .unit = "us",
       .ranks = bench.ranks(),
       .workers = bench.ranks(),
       .domain = domain_of(separate_options())},
      kRuns, [&] { return run(bench, setting, line); }, "eventual",
      [&] {
        return run(bench, {"eventual", setting.is_adaptive, setting.has_slow}, unused);
      });
  if (bench.rank() == 0) fmt::print(stderr, "{}\n", line);
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(
      argc, argv, "Consistency policies: time, waiting, messages, staleness and loss", [](Bench& bench) {
        for (int series = 0; series < 4; ++series) {
          for (const char* policy : {"eventual", "cap(2)", "ssp(2)", "essp(2)", "bsp", "vap(0.2)", "vap(1)",
                                     "vap(1, strong)", "cvap(2,1)", "sequential"})
            measure(bench, {policy, series / 2 == 1, series % 2 == 1});
        }
      });
}
