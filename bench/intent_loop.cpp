#include "bench/intent_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "bench/support/joint_timer.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse::bench {

namespace {

// Updates that cancel out, clock by clock, so that floats stay exact however often a key is drawn.
class LoopBuffers {
 public:
  std::span<float> values() { return values_; }
  std::span<const float> updates(std::size_t clock) const { return updates_[clock % 2]; }

 private:
  std::vector<float> values_ = std::vector<float>(kKeysPerClock * kLength);
  std::array<std::vector<float>, 2> updates_{std::vector<float>(kKeysPerClock * kLength, 1.0F),
                                             std::vector<float>(kKeysPerClock* kLength, -1.0F)};
};

// CPU time of all threads of this process.
double cpu_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Per clock: announce(clock), the accesses, end_clock(). Counts calls that finished at once.
template <class Announce, class EndClock>
void access_clocks(Worker& worker, const Table<float>& table, std::size_t first, std::size_t count,
                   const auto& keys_of, LoopBuffers& buffers, double& local_operations, Announce&& announce,
                   EndClock&& end_clock) {
  std::size_t local = 0;
  for (std::size_t clock = first; clock < first + count; ++clock) {
    announce(clock);
    const std::span<const Key> keys = keys_of(clock);
    {
      Operation pull = worker.pull(table, keys, buffers.values());
      if (pull.done()) ++local;
      pull.wait();
    }
    {
      const Operation push = worker.push(table, keys, buffers.updates(clock));
      if (push.done()) ++local;
    }
    end_clock();
  }
  local_operations = static_cast<double>(local);
}

// Collective over the workers. The cost of f's clocks, summed over all workers.
template <class F>
LoopResult measured(Worker& worker, const TableHandle& table, std::size_t clocks, F&& f) {
  const TableCounters before = worker.core().counters(table);
  worker.barrier();
  double local_operations = 0;
  const double cpu_before = cpu_seconds();
  const Clock::time_point begin = Clock::now();
  f(local_operations);
  worker.wait_all();
  std::array<double, 1> seconds{seconds_between(begin, Clock::now())};
  // One worker of a rank counts for all.
  const double cpu = worker.local_index() == 0 ? cpu_seconds() - cpu_before : 0;
  const TableCounters& after = worker.core().counters(table);
  const double keys = 2.0 * static_cast<double>(clocks * kKeysPerClock);
  std::array<double, 5> sums{
      keys,
      static_cast<double>(after.local_pulls - before.local_pulls + after.local_pushes - before.local_pushes),
      2.0 * static_cast<double>(clocks), local_operations, cpu};
  worker.all_reduce(std::span<double>(seconds), Reduce::max);
  worker.all_reduce(std::span<double>(sums));
  return {.seconds = seconds[0],
          .keys = sums[0],
          .local_keys = sums[1],
          .operations = sums[2],
          .local_operations = sums[3],
          .cpu_seconds = sums[4]};
}

}  // namespace

// --- keys

LoopKeys::LoopKeys(KeyDistribution distribution, std::uint64_t keys, std::size_t clocks, std::size_t workers)
    : keys_(keys), clocks_(clocks) {
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const std::size_t count = clocks * kKeysPerClock;
    drawn_.push_back(distribution == KeyDistribution::uniform ? random_keys(0, keys, count, worker + 1)
                                                              : zipf_keys(keys, count, worker + 1));
  }
}

std::vector<std::uint64_t> LoopKeys::frequencies() const {
  std::vector<std::uint64_t> counts(keys_);
  for (const std::vector<Key>& keys : drawn_) {
    for (const Key key : keys) ++counts[key.value()];
  }
  return counts;
}

// --- with a manager

IntentLoop::IntentLoop(const adapm::Options& options, const LoopKeys& keys)
    : keys_(keys),
      manager_(MPI_COMM_WORLD, options),
      table_(manager_.create_table<float>({.name = "loop", .keys = keys.keys(), .length = kLength})),
      sums_(keys.keys()) {
  manager_.set_frequencies(table_, keys.frequencies());
}

LoopResult IntentLoop::run(const LoopRun& run) {
  const bool localizes = manager_.options().technique == adapm::Technique::localize;
  const auto workers = static_cast<std::int32_t>(keys_.workers()) / manager_.ranks();
  LoopResult result;
  manager_.run_workers(workers, [&](adapm::IntentWorker& worker) {
    LoopBuffers buffers;
    const std::int64_t start = worker.current_clock().value();
    const auto keys_of = [&](std::size_t clock) { return keys_.of(worker.index(), clock); };
    const auto announce = [&](std::size_t clock) {
      const std::int64_t at = start + static_cast<std::int64_t>(clock);
      if (localizes)
        worker.localize(table_, keys_of(clock));
      else
        worker.intent(table_, keys_of(clock), lapse::Clock(at), lapse::Clock(at + 1));
    };
    const auto announce_ahead = [&](std::size_t clock) {
      if (run.ahead) announce(clock + *run.ahead);
    };
    const auto access = [&](std::size_t first, std::size_t count, double& local_operations) {
      access_clocks(worker, table_, first, count, keys_of, buffers, local_operations, announce_ahead,
                    [&] { worker.advance_clock(); });
    };
    for (std::size_t clock = 0; clock < run.ahead.value_or(0); ++clock) announce(clock);
    double ignored = 0;
    access(0, run.warm_up, ignored);
    const LoopResult own = measured(worker, table_.handle(), run.clocks, [&](double& local_operations) {
      access(run.warm_up, run.clocks, local_operations);
    });
    if (worker.local_index() == 0) result = own;
  });
  note_pushes(run.warm_up + run.clocks);
  return result;
}

void IntentLoop::note_pushes(std::size_t clocks) {
  for (std::size_t worker = 0; worker < keys_.workers(); ++worker) {
    for (std::size_t clock = 0; clock < clocks; ++clock) {
      for (const Key key : keys_.of(worker, clock)) sums_[key.value()] += clock % 2 == 0 ? 1 : -1;
    }
  }
}

void IntentLoop::check_values(Worker& worker) const {
  constexpr std::size_t kBatch = 1000;
  std::vector<Key> keys;
  std::vector<float> values;
  for (std::size_t first = 0; first < sums_.size(); first += keys.size()) {
    keys.clear();
    for (std::size_t key = first; key < std::min(first + kBatch, sums_.size()); ++key) keys.emplace_back(key);
    values.resize(keys.size() * kLength);
    worker.pull(table_, keys, values).wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t expected = sums_[first + i / kLength];
      if (values[i] == static_cast<float>(expected)) continue;
      throw UsageError(fmt::format("the benchmark found {} at key {} with technique {}, expected {}",
                                   values[i], first + i / kLength,
                                   adapm::to_string(manager_.options().technique), expected));
    }
  }
}

void IntentLoop::close() {
  manager_.run_workers(1, [&](adapm::IntentWorker& worker) {
    if (worker.index() == 0) check_values(worker);
  });
  manager_.close();
}

// --- without a manager

LocalLoop::LocalLoop(const Options& options, const LoopKeys& keys)
    : keys_(keys),
      server_(MPI_COMM_WORLD, options),
      table_(server_.create_table<float>({.name = "local",
                                          .keys = keys.keys() * static_cast<std::uint64_t>(server_.ranks()),
                                          .length = kLength,
                                          .home = HomeMapKind::range})) {
  const std::size_t ranks = static_cast<std::size_t>(server_.ranks());
  const std::size_t rank = static_cast<std::size_t>(server_.rank().value());
  const std::size_t workers = keys.workers() / ranks;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    own_.push_back(keys.all_of(rank * workers + worker));
    for (Key& key : own_.back()) key = Key(key.value() + rank * keys.keys());
  }
}

LoopResult LocalLoop::run(std::size_t clocks) {
  LoopResult result;
  server_.run_workers(static_cast<std::int32_t>(own_.size()), [&](Worker& worker) {
    LoopBuffers buffers;
    const auto keys_of = [&own = own_[worker.local_index()]](std::size_t clock) {
      return std::span(std::as_const(own)).subspan(clock * kKeysPerClock % own.size(), kKeysPerClock);
    };
    const LoopResult own = measured(worker, table_.handle(), clocks, [&](double& local_operations) {
      access_clocks(
          worker, table_, 0, clocks, keys_of, buffers, local_operations, [](std::size_t) {}, [] {});
    });
    if (worker.local_index() == 0) result = own;
  });
  return result;
}

}  // namespace lapse::bench
