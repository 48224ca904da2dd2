// What a TRANSFER must look like.
#pragma once

#include <cstddef>

#include "lapse/protocol/relocation_records.hpp"

namespace lapse {

// Throws ProtocolError where a record has not so many bytes behind its fixed part.
void check_transfer(const FrameHeader& header, std::size_t bytes);
// Of the record of transfer or transfer_with_members that begins at `bytes`. Throws ProtocolError.
void check_members(const TableShard& table, const FrameHeader& header, const TransferRecord& record,
                   const std::byte* bytes);

}  // namespace lapse
