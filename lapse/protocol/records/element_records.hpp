// Checks messages that hold operations on single elements.
#pragma once

#include <cstddef>

#include "lapse/protocol/table/operation_part.hpp"

namespace lapse {

class TableShard;

// Throws ProtocolError unless `part`, an operation on elements that has arrived with `bytes` bytes at
// part.value, can be executed: the payload has that length, the key's value has all elements, and the table's
// rule can push to single elements.
void check_elements(const TableShard& table, const OperationPart& part, std::size_t bytes);

}  // namespace lapse
