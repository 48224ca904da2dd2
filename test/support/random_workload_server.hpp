// The random workload on a server: what all its workers do, together, on one rank of any transport.
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

// Keys that are wanted, and what is done about it.
struct ServerReplication {
  bool eventual = true;    // the first table, and the third
  bool gradients = false;  // pushes of the first table are merged as gradients, else as differences
  Technique technique = Technique::adaptive;
  std::uint32_t intents = 4;                // among the calls: their weight
  std::uint32_t syncs = 1;                  // among the calls: their weight
  bool leaves_some = false;                 // some intents do not end with the calls of their worker
  std::chrono::microseconds interval{300};  // of rounds
};

// The same on every rank.
struct ServerWorkload {
  std::uint64_t seed = 1;
  std::vector<std::int32_t> workers;  // by rank, at least one in all
  std::size_t phases = 2;             // calls of run_workers
  std::size_t rounds =
      2;  // of each phase; a round ends with a barrier, after which every worker sees all writes
  std::size_t calls = 1000;  // of each worker in each round
  std::uint64_t keys = 5;    // of each table
  HomeMapKind home = HomeMapKind::hash;
  bool sparse = false;       // of the first two tables
  bool own_lengths = false;  // of the first table
  bool leases = true;
  double bulk = 0;      // WorkloadSettings::bulk
  bool resets = false;  // of keys of the first table
  std::optional<ServerReplication> replication = {};
  std::size_t large_length = 0;  // about so many floats in each value of a third table; 0: there is none

  std::size_t all_workers() const;
  TableShape shape() const { return {keys, sparse, own_lengths}; }
  // Of the first table, and of the third.
  CounterRules rules() const { return {.eventual = replication && replication->eventual, .resets = resets}; }
  CounterRules large_rules() const { return {.eventual = rules().eventual}; }
};

// What the workers of some ranks did and saw.
struct ServerHistory {
  std::vector<CounterLog> counters;
  std::vector<CounterLog> large;
  std::vector<AssignmentLog> assignments;

  void append(ServerHistory other);
  // As numbers, to be sent somewhere.
  std::vector<std::int64_t> encode() const;
  static ServerHistory decode(std::span<const std::int64_t> numbers);
};

// One rank's part. Used by the thread that owns the server; its workers run in threads of their own.
class ServerWorkloadRun {
 public:
  // Collective: creates the tables.
  ServerWorkloadRun(ParameterServer& server, const ServerWorkload& workload);

  // Collective: runs all phases.
  // Throws PeerFailed when a worker has seen what it must not see; the message says what.
  void run();
  // Collective: what one worker on each rank pulls when everything is over.
  void pull_final_values();

  // Of this rank's workers.
  ServerHistory& history() { return history_; }
  // What its workers want.
  const RandomIntents& intents() const { return intents_; }
  // `all` is the history of all ranks. Throws HistoryViolation.
  void check(const ServerHistory& all) const;

 private:
  void work(Worker& worker, std::size_t phase);
  // After a barrier: a pull of all keys holds every push, no more and no less.
  // With resets: all workers see the same.
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
