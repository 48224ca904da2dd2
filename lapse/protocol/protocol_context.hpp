// What the parts of the protocol on one rank share.
#pragma once

#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/outbox.hpp"
#include "lapse/protocol/registered_function.hpp"
#include "lapse/protocol/table_state.hpp"
#include "lapse/protocol/worker_endpoint.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock; tables and workers change only while no engine runs.
struct ProtocolContext {
  Rank self_rank;
  std::int32_t ranks;
  const Router& router;
  Outbox& outbox;
  std::vector<std::unique_ptr<TableState>>& tables;
  std::vector<std::unique_ptr<WorkerEndpoint>>& workers;
  std::vector<std::unique_ptr<RegisteredFunction>>& functions;

  // Throw ProtocolError for numbers that no correct message carries.
  TableState& table(std::uint32_t number) const {
    if (number >= tables.size()) throw ProtocolError("a message names a table that does not exist");
    return *tables[number];
  }
  // A key that a message is about: one that this rank serves.
  static Key checked_key(const TableState& table, std::uint64_t key) {
    if (!table.store.has(Key(key))) throw ProtocolError("a message names a key outside its table");
    if (!table.serves(Key(key))) throw ProtocolError("a message names a key that another rank serves");
    return Key(key);
  }
  Rank checked_rank(std::int32_t rank) const {
    if (rank < 0 || rank >= ranks) throw ProtocolError("a message names a rank that does not exist");
    return Rank(rank);
  }
  const RegisteredFunction& function(std::uint32_t number) const {
    if (number >= functions.size()) throw ProtocolError("a message names a function that does not exist");
    return *functions[number];
  }
  OperationState& operation(std::uint64_t number) const {
    const std::uint32_t worker = WorkerEndpoint::local_index_of(number);
    OperationState* state = worker < workers.size() ? workers[worker]->find(number) : nullptr;
    if (state == nullptr) throw ProtocolError("a message names an operation that does not exist");
    return *state;
  }
};

}  // namespace lapse
