// Messages that hold operations on single elements.
#pragma once

#include <cstddef>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/operation_part.hpp"

namespace lapse {

class TableShard;

// Throws ProtocolError unless `part`, an operation on elements that has arrived with `bytes` bytes at
// part.value, can be executed: the payload has that length, the key's value has all elements, and the table's
// rule can push to single elements.
void check_elements(const TableShard& table, const OperationPart& part, std::size_t bytes);

// Like prefetch_ahead, for records of operations on elements: prefetches the first element of each.
void prefetch_elements_ahead(TableShard& table, const FrameHeader& header, const std::byte* record,
                             std::uint32_t at);

}  // namespace lapse
