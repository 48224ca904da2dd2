// The format of failures of keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/table/key_failure.hpp"

namespace lapse {

// refuse, localize_failed, lease_refused: this, then the message, padded with zeroes.
struct KeyFailureRecord {
  std::uint64_t key = 0;
};
static_assert(sizeof(KeyFailureRecord) == 8);

// Sends `head` and the failure in a frame with the kind, operation and domain of `header`.
template <class Head>
void append_failure(Outbox& outbox, Rank to, FrameHeader header, const Head& head, const KeyFailure& failure)
    LAPSE_REQUIRES(progress_role) {
  header.origin = failure.where.value();
  header.flags = failure.kind == KeyFailure::Kind::out_of_memory ? FrameHeader::kOutOfMemory : 0;
  const std::size_t bytes = sizeof head + padded_bytes(failure.text.size() + 1);
  header.record_bytes = static_cast<std::uint32_t>(bytes);
  std::byte* record = outbox.append(to, header);
  std::memset(record, 0, bytes);
  std::memcpy(write_record(record, head), failure.text.data(), failure.text.size());
}

// Throws ProtocolError if the records have no message after their head of `head_bytes`.
void check_failure_length(const FrameHeader& header, std::size_t head_bytes);
// Returns the failure in a record with a head of `head_bytes`. Throws ProtocolError if it has no message.
KeyFailure read_failure(std::string_view table, Key key, const FrameHeader& header, const std::byte* record,
                        std::size_t head_bytes);
// Returns the failure in a KeyFailureRecord. Throws what read_failure throws.
KeyFailure read_key_failure(std::string_view table, const FrameHeader& header, const std::byte* record);

}  // namespace lapse
