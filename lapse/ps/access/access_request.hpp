// The request of a worker's call, beside table and keys.
#pragma once

#include <cstddef>

#include "lapse/protocol/table/operation_kind.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

struct AccessRequest {
  ValueOperation operation;
  const std::byte* updates = nullptr;  // push, set: rows; push_elements: elements; call: arguments
  std::byte* destination = nullptr;    // pull: rows; pull_elements: elements; call: results

  // Returns true if code of the application may run under the latch of a key.
  bool runs_user_code(const TableShard& table) const {
    return operation.kind == OperationKind::call ||
           table.definition().rule.kind() == UpdateRuleKind::custom || table.store().is_sparse();
  }
};

}  // namespace lapse
