// The random workload on a server: the calls of all workers of one rank, over any transport.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lapse/ps/parameter_server.hpp"
#include "test/support/history_assignments.hpp"
#include "test/support/history_counters.hpp"
#include "test/support/random_intents.hpp"
#include "test/support/random_policy.hpp"
#include "test/support/random_workload.hpp"
#include "test/support/random_workload_counters.hpp"
#include "test/support/table_shape.hpp"

namespace lapse::test {

// How keys are wanted, and how wanted keys are managed.
struct ServerReplication {
  bool eventual = true;    // the first and the third table
  bool gradients = false;  // pushes to the first table are merged as gradients, else as differences
  Technique technique = Technique::adaptive;
  std::uint32_t intents = 4;                // weight among the calls
  std::uint32_t syncs = 1;                  // weight among the calls
  bool leaves_some = false;                 // some intents do not end with their worker's calls
  std::chrono::microseconds interval{300};  // of rounds
};

// Equal on all ranks.
struct ServerWorkload {
  std::uint64_t seed = 1;
  std::vector<std::int32_t> workers;  // by rank, at least one in total
  std::size_t phases = 2;             // calls of run_workers
  std::size_t rounds =
      2;  // in each phase; after the barrier that ends a round, every worker sees all earlier writes
  std::size_t calls = 1000;  // per worker and round
  std::uint64_t keys = 5;    // per table
  HomeMapKind home = HomeMapKind::hash;
  bool sparse = false;       // of the first two tables
  bool own_lengths = false;  // of the first table
  bool leases = true;
  double bulk = 0;      // WorkloadSettings::bulk
  bool resets = false;  // of keys of the first table
  std::optional<ServerReplication> replication = {};
  std::size_t large_length = 0;  // about this many floats in each value of a third table; 0: no such table

  std::size_t all_workers() const;
  TableShape shape() const { return {keys, sparse, own_lengths}; }
  // Shape of the first and of the third table.
  CounterRules rules() const { return {.eventual = replication && replication->eventual, .resets = resets}; }
  CounterRules large_rules() const { return {.eventual = rules().eventual}; }
};

// What the workers of some ranks did and saw.
struct ServerHistory {
  std::vector<CounterLog> counters;
  std::vector<CounterLog> large;
  std::vector<AssignmentLog> assignments;

  void append(ServerHistory other);
  // The history as numbers, to be sent to another rank.
  std::vector<std::int64_t> encode() const;
  static ServerHistory decode(std::span<const std::int64_t> numbers);
};

// One rank's part. Used by the thread that owns the server; its workers run in threads of their own.
class ServerWorkloadRun {
 public:
  // Collective: creates the tables.
  ServerWorkloadRun(ParameterServer& server, const ServerWorkload& workload);

  // Collective: runs all phases. Throws PeerFailed if a worker saw a value that the guarantees exclude; the
  // message describes it.
  void run();
  // Collective: the final values, pulled by one worker on each rank.
  void pull_final_values();

  // Counters of this rank's workers.
  ServerHistory& history() { return history_; }
  // Keys that the workers of this rank want.
  const RandomIntents& intents() const { return intents_; }
  // `all`: the history of all ranks. Throws HistoryViolation.
  void check(const ServerHistory& all) const;

 private:
  void work(Worker& worker, std::size_t phase);
  // Checks, after a barrier, that a pull of all keys holds every push exactly once. With resets: that all
  // workers pull equal values.
  template <Element T>
  void check_after_barrier(Worker& worker, const Table<T>& table, const TableShape& shape,
                           const CounterLayout& layout, CounterLog& log) const;

  ParameterServer& server_;
  const ServerWorkload workload_;
  const CounterLayout layout_;
  const CounterLayout large_layout_;
  const CountFunction<double> count_;
  const CountFunction<float> count_large_;
  const Table<double> counters_;
  const Table<std::int64_t> assignments_;
  std::optional<Table<float>> large_;
  RandomIntents intents_;
  const RandomPolicy policy_;
  ServerHistory history_;  // each worker writes to its own logs
  std::vector<Counts> final_counters_;
  std::vector<Counts> final_large_;
  std::vector<Assignment> final_assignments_;
};

}  // namespace lapse::test
