// Checks frames about replicas before they are handled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Throws ProtocolError if the frame does not fit the table, or if the length of its records does not fit
// their kind.
void check_copy_frame(const TableShard& table, const FrameHeader& header) LAPSE_REQUIRES(progress_role);

// Throws ProtocolError if the frame's records are not `bytes` long.
void check_record_bytes(const FrameHeader& header, std::size_t bytes);

// Returns the frame's last number, which is the largest. Throws ProtocolError if the length of its records is
// wrong.
std::uint64_t read_credit(const FrameHeader& header, const std::byte* records);

// Reads an on, delta or off; does not copy the delta. Throws ProtocolError if the record's length does not
// fit the table's deltas.
KeyQueue::CopyMessage read_copy_message(TableShard& table, Key key, const FrameHeader& header,
                                        const std::byte* record) LAPSE_REQUIRES(progress_role);

}  // namespace lapse
