#include "lapse/transport/rma/rma_receive_ring_reader.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

std::uint64_t RmaReceiveRingReader::arrived(std::uint64_t begin, std::uint64_t bytes) {
  if (handling())
    throw ProtocolError("a payload arrived in an RMA receive ring before the last one was handled");
  if (bytes == 0 || bytes > rma_receive_ring::largest_payload(capacity_)) {
    throw ProtocolError(fmt::format("a payload of {} bytes arrived in an RMA receive ring, expected 1 to {}",
                                    bytes, rma_receive_ring::largest_payload(capacity_)));
  }
  const RmaRingSlot slot = rma_receive_ring::slot(capacity_, arrived_, bytes);
  if (slot.begin != begin) {
    throw ProtocolError(
        fmt::format("a payload of {} bytes arrived at byte {} of an RMA receive ring, expected {}", bytes,
                    begin, slot.begin));
  }
  arrived_ = slot.end;
  return begin % capacity_;
}

void RmaReceiveRingReader::consumed() {
  if (!handling()) throw ProtocolError("a payload was consumed that has not arrived in its RMA receive ring");
  consumed_ = arrived_;
}

}  // namespace lapse
