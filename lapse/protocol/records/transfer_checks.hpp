// What messages about relocations must look like, above all those that carry a value.
#pragma once

#include <cstddef>

#include "lapse/protocol/records/relocation_records.hpp"

namespace lapse {

// Of the header of any of them. Throws ProtocolError.
void check_relocation(const TableShard& table, const FrameHeader& header);
// Throws ProtocolError where a record has not so many bytes behind its fixed part.
void check_transfer(const FrameHeader& header, std::size_t bytes);
// Of a record of transfer. Throws ProtocolError.
void check_no_members(const TransferRecord& record);
// Of the record of transfer or transfer_with_members that begins at `bytes`. Throws ProtocolError.
void check_members(const TableShard& table, const FrameHeader& header, const TransferRecord& record,
                   const std::byte* bytes);

}  // namespace lapse
