// One key of an operation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/types.hpp"
#include "lapse/protocol/table/operation_kind.hpp"

namespace lapse {

// As seen by the rank that queues or executes it.
struct OperationPart : ValueOperation {
  Rank origin;
  std::uint64_t operation = 0;
  Key key;
  std::uint32_t item = 0;  // its number in messages
  // push and set: the update; call: the argument; pull_elements and push_elements: an ElementPayload
  const std::byte* value = nullptr;
};

}  // namespace lapse
