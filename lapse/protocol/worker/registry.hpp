// Holds all table shards, functions and workers that a rank has registered.
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

// Constant during a phase: changed only while no engine runs, then read by any thread. The registered objects
// have thread-safety rules of their own.
class Registry {
 public:
  Registry(Rank self, std::int32_t ranks) : self_(self), ranks_(ranks) {}

  Rank self() const { return self_; }
  std::int32_t ranks() const { return ranks_; }

  // --- registering

  // The table's id must be the number of tables before it.
  TableShard& add(std::unique_ptr<TableShard> table);
  // Gives the function its number.
  const RegisteredFunction& add(RegisteredFunction function);
  // Called before a phase of `workers` workers of this rank; the first has number `first` among those of all
  // ranks. Ensures that they have endpoints, each with counters for all tables. The workers are in group 0
  // until they are seated in another.
  void prepare_workers(std::size_t workers, std::size_t first = 0);

  // Any thread.
  void wake_workers() const;
  // Makes every worker notice the failure of a rank, even one that accesses only memory. Called once.
  void stop_workers() const LAPSE_REQUIRES(progress_role);

  // --- all: tables by id, functions by number, workers by local index

  const std::vector<std::unique_ptr<TableShard>>& tables() const { return tables_; }
  const std::vector<std::unique_ptr<RegisteredFunction>>& functions() const { return functions_; }
  const std::vector<std::unique_ptr<WorkerEndpoint>>& workers() const { return workers_; }

  // This many of the first workers take part in the phase.
  std::size_t workers_of_phase() const { return workers_of_phase_; }

  // --- lookups by the numbers of a message; each throws ProtocolError if the number is illegal

  TableShard& table(std::uint32_t number) const;
  const RegisteredFunction& function(std::uint32_t number) const;
  WorkerEndpoint& worker(std::uint64_t local_index) const;
  OperationState& operation(std::uint64_t number) const LAPSE_REQUIRES(progress_role);
  Rank rank(std::int32_t number) const;
  // Returns the key of a record. Throws ProtocolError unless the key exists and this rank serves it.
  static Key served_key(const TableShard& table, std::uint64_t number);

 private:
  const Rank self_;
  const std::int32_t ranks_;
  std::shared_ptr<MemoryReserve> reserve_ = std::make_shared<MemoryReserve>();  // shared by all tables
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
