// Checks messages about relocations, above all those that carry a value.
#pragma once

#include <cstddef>

#include "lapse/protocol/records/relocation_records.hpp"

namespace lapse {

// Checks the header of any of them. Throws ProtocolError if it is malformed.
void check_relocation(const TableShard& table, const FrameHeader& header);
// Throws ProtocolError if the records do not have exactly `bytes` bytes after their fixed part.
void check_transfer(const FrameHeader& header, std::size_t bytes);
// Throws ProtocolError if a transfer record names holders.
void check_no_members(const TransferRecord& record);
// Checks the holders of the transfer or transfer_with_members record at `bytes`. Throws ProtocolError if they
// are malformed.
void check_members(const TableShard& table, const FrameHeader& header, const TransferRecord& record,
                   const std::byte* bytes);

}  // namespace lapse
