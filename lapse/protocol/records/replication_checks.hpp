// What frames about replicas must fulfil before they are handled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Throws ProtocolError where the frame does not fit the table, or the length of its records their kind.
void check_copy_frame(const TableShard& table, const FrameHeader& header) LAPSE_REQUIRES(progress_role);

// Throws ProtocolError where the records of the frame have another length.
void check_record_bytes(const FrameHeader& header, std::size_t bytes);

// The last number of the frame: they rise. Throws ProtocolError where the records have another length.
std::uint64_t read_credit(const FrameHeader& header, const std::byte* records);

// Of on, delta or off; the delta is not copied. Throws ProtocolError where the record has not the length that
// the table's deltas have.
KeyQueue::CopyMessage read_copy_message(TableShard& table, Key key, const FrameHeader& header,
                                        const std::byte* record) LAPSE_REQUIRES(progress_role);

}  // namespace lapse
