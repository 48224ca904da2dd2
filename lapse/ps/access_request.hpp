// What a worker's call asks for, beside table and keys.
#pragma once

#include <cstddef>

#include "lapse/protocol/operation_state.hpp"
#include "lapse/protocol/table_state.hpp"

namespace lapse {

struct AccessRequest {
  OperationKind kind = OperationKind::pull;
  float scale = 1;                               // push
  const RegisteredFunction* function = nullptr;  // call
  const std::byte* updates = nullptr;            // push, set: rows; call: arguments
  std::byte* destination = nullptr;              // pull: rows; call: results

  // Whether code of the application may run under the latch of a key.
  bool runs_user_code(const TableState& table) const {
    return kind == OperationKind::call || table.rule.kind() == UpdateRuleKind::custom ||
           table.store.is_sparse();
  }
};

}  // namespace lapse
