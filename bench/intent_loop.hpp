// The loop of the benchmark `intent`: workers pull and push the keys of their clock, and announce later ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "adapm/options.hpp"
#include "adapm/parameter_manager.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

inline constexpr std::size_t kKeysPerClock = 100;

enum class KeyDistribution : std::uint8_t { uniform, zipf };

// The keys that each worker of all ranks accesses, clock by clock; repeats after the last clock drawn. Equal
// on every rank.
class LoopKeys {
 public:
  LoopKeys(KeyDistribution distribution, std::uint64_t keys, std::size_t clocks, std::size_t workers);

  std::uint64_t keys() const { return keys_; }
  std::size_t workers() const { return drawn_.size(); }
  std::span<const Key> of(std::size_t worker, std::size_t clock) const {
    return std::span(drawn_[worker]).subspan(clock % clocks_ * kKeysPerClock, kKeysPerClock);
  }
  std::vector<Key> all_of(std::size_t worker) const { return drawn_[worker]; }
  // How often each key was drawn.
  std::vector<std::uint64_t> frequencies() const;

 private:
  std::uint64_t keys_;
  std::size_t clocks_;
  std::vector<std::vector<Key>> drawn_;  // by worker of all ranks
};

struct LoopRun {
  std::size_t warm_up = 0;  // clocks
  std::size_t clocks = 0;   // measured clocks, after the warm-up
  // How many clocks before their use keys are announced; nullopt: never.
  std::optional<std::size_t> ahead = {};
};

// Over all workers and measured clocks. Equal on every rank.
struct LoopResult {
  double seconds = 0;           // from a barrier until the last worker was done
  double keys = 0;              // accesses: a key pulled and pushed counts as two
  double local_keys = 0;        // of these, in memory of the worker's domain
  double operations = 0;        // calls of pull and push
  double local_operations = 0;  // of these, finished when they returned
  double cpu_seconds = 0;       // of all threads of all ranks

  // Keys that a worker pulls and pushes per second.
  double rate(std::size_t workers) const { return keys / 2 / static_cast<double>(workers) / seconds; }
};

// One object on each rank: a manager with one table of keys of 25 floats, spread over the ranks.
class IntentLoop {
 public:
  // Collective. Keys of the workers of all ranks, equally many on each.
  IntentLoop(const adapm::Options& options, const LoopKeys& keys);

  // Collective.
  LoopResult run(const LoopRun& run);
  // Collective. The counters since the start.
  adapm::Statistics statistics() { return manager_.statistics(); }
  const Table<float>& table() const { return table_; }

  // Collective. Throws UsageError on rank 0 if a value is not the sum of its pushes.
  void close();

 private:
  void note_pushes(std::size_t clocks);
  void check_values(Worker& worker) const;

  const LoopKeys& keys_;
  adapm::ParameterManager manager_;
  Table<float> table_;
  std::vector<std::int64_t> sums_;  // of pushes, by key
};

// The same loop without management, on keys that the worker's own rank serves, in a table of the server. One
// object on each rank.
class LocalLoop {
 public:
  LocalLoop(const Options& options, const LoopKeys& keys);

  // Collective.
  LoopResult run(std::size_t clocks);
  void close() { server_.close(); }

 private:
  const LoopKeys& keys_;
  ParameterServer server_;
  Table<float> table_;
  std::vector<std::vector<Key>> own_;  // by worker of this rank
};

}  // namespace lapse::bench
