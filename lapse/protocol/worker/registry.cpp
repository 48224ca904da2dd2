#include "lapse/protocol/worker/registry.hpp"

#include <utility>

#include "lapse/core/error.hpp"

namespace lapse {

TableShard& Registry::add(std::unique_ptr<TableShard> table) {
  progress_role.assert_held();  // No engine runs.
  table->share_reserve(reserve_);
  tables_.push_back(std::move(table));
  return *tables_.back();
}

const RegisteredFunction& Registry::add(RegisteredFunction function) {
  function.number = static_cast<std::uint32_t>(functions_.size());
  functions_.push_back(std::make_unique<RegisteredFunction>(std::move(function)));
  return *functions_.back();
}

void Registry::prepare_workers(std::size_t workers, std::size_t first) {
  while (workers_.size() < workers) {
    workers_.push_back(std::make_unique<WorkerEndpoint>(static_cast<std::uint32_t>(workers_.size())));
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->count_tables(tables_.size());
    workers_[i]->take_seat({.group = kAllWorkers, .number = first + i});
  }
  workers_of_phase_ = workers;
}

void Registry::wake_workers() const {
  for (const auto& worker : workers_) worker->bell().ring();
}

void Registry::stop_workers() const {
  for (const auto& worker : workers_) worker->failed();
}

TableShard& Registry::table(std::uint32_t number) const {
  if (number >= tables_.size()) throw ProtocolError("a message names a table that does not exist");
  return *tables_[number];
}

const RegisteredFunction& Registry::function(std::uint32_t number) const {
  if (number >= functions_.size()) throw ProtocolError("a message names a function that does not exist");
  return *functions_[number];
}

WorkerEndpoint& Registry::worker(std::uint64_t local_index) const {
  if (local_index >= workers_.size()) throw ProtocolError("a message names a worker that does not exist");
  return *workers_[local_index];
}

OperationState& Registry::operation(std::uint64_t number) const {
  const std::uint32_t worker = WorkerEndpoint::local_index_of(number);
  OperationState* state = worker < workers_.size() ? workers_[worker]->find(number) : nullptr;
  if (state == nullptr) throw ProtocolError("a message names an operation that does not exist");
  return *state;
}

Rank Registry::rank(std::int32_t number) const {
  if (number < 0 || number >= ranks_) throw ProtocolError("a message names a rank that does not exist");
  return Rank(number);
}

}  // namespace lapse
