#include "lapse/protocol/records/key_failure_records.hpp"

#include "lapse/core/error.hpp"

namespace lapse {

void check_failure_length(const FrameHeader& header, std::size_t head_bytes) {
  if (header.record_bytes <= head_bytes) throw ProtocolError("a failure has no message");
}

KeyFailure read_failure(std::string_view table, Key key, const FrameHeader& header, const std::byte* record,
                        std::size_t head_bytes) {
  check_failure_length(header, head_bytes);
  const auto* text = reinterpret_cast<const char*>(record + head_bytes);
  const std::size_t length = strnlen(text, header.record_bytes - head_bytes);
  const auto kind = (header.flags & FrameHeader::kOutOfMemory) != 0 ? KeyFailure::Kind::out_of_memory
                                                                    : KeyFailure::Kind::user_code;
  return {kind, std::string(table), key, Rank(header.origin), std::string(text, length)};
}

KeyFailure read_key_failure(std::string_view table, const FrameHeader& header, const std::byte* record) {
  if (header.record_bytes < sizeof(KeyFailureRecord)) throw ProtocolError("a failure has no key");
  const auto head = read_record<KeyFailureRecord>(record);
  return read_failure(table, Key(head.key), header, record, sizeof head);
}

}  // namespace lapse
