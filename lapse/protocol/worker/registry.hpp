// What a rank has registered with the protocol: table shards, functions and workers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/registered_function.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"

namespace lapse {

// Constant during a phase: changed only while no engine runs, then read by any thread; the registered objects
// have thread-safety rules of their own.
class Registry {
 public:
  Registry(Rank self, std::int32_t ranks) : self_(self), ranks_(ranks) {}

  Rank self() const { return self_; }
  std::int32_t ranks() const { return ranks_; }

  // --- registering

  // The table's id is the number of tables before it.
  TableShard& add(std::unique_ptr<TableShard> table);
  // Gives the function its number.
  const RegisteredFunction& add(RegisteredFunction function);
  // Before a phase of `workers` workers of this rank, of which the first has number `first` among those of
  // all ranks: ensures that there are endpoints for them, each with counters for all tables. They are in
  // group 0 until they are seated in another.
  void prepare_workers(std::size_t workers, std::size_t first = 0);

  // Any thread.
  void wake_workers() const;
  // Every worker notices the failure of a rank, also one that accesses only memory. Once.
  void stop_workers() const LAPSE_REQUIRES(progress_role);

  // --- everything: tables by id, functions by number, workers by local index

  const std::vector<std::unique_ptr<TableShard>>& tables() const { return tables_; }
  const std::vector<std::unique_ptr<RegisteredFunction>>& functions() const { return functions_; }
  const std::vector<std::unique_ptr<WorkerEndpoint>>& workers() const { return workers_; }

  // Of the workers, the first so many take part in the phase.
  std::size_t workers_of_phase() const { return workers_of_phase_; }

  // --- lookups by the numbers of a message; each throws ProtocolError for an illegal number

  TableShard& table(std::uint32_t number) const;
  const RegisteredFunction& function(std::uint32_t number) const;
  WorkerEndpoint& worker(std::uint64_t local_index) const;
  OperationState& operation(std::uint64_t number) const LAPSE_REQUIRES(progress_role);
  Rank rank(std::int32_t number) const;
  // The key of a record, which this rank must serve.
  static Key served_key(const TableShard& table, std::uint64_t number);

 private:
  const Rank self_;
  const std::int32_t ranks_;
  std::shared_ptr<MemoryReserve> reserve_ = std::make_shared<MemoryReserve>();  // that of all tables
  std::vector<std::unique_ptr<TableShard>> tables_;
  std::vector<std::unique_ptr<RegisteredFunction>> functions_;
  std::vector<std::unique_ptr<WorkerEndpoint>> workers_;
  std::size_t workers_of_phase_ = 0;
};

// Called for every record of a message.
inline Key Registry::served_key(const TableShard& table, std::uint64_t number) {
  if (!table.store().has(Key(number))) throw ProtocolError("a message names a key outside its table");
  if (!table.serves(Key(number))) throw ProtocolError("a message names a key that another rank serves");
  return Key(number);
}

}  // namespace lapse
