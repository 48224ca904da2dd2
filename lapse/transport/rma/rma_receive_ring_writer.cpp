#include "lapse/transport/rma/rma_receive_ring_writer.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

std::optional<RmaRingSlot> RmaReceiveRingWriter::reserve(std::uint64_t bytes) {
  if (bytes == 0 || bytes > rma_receive_ring::largest_payload(capacity_)) return std::nullopt;
  const RmaRingSlot slot = rma_receive_ring::slot(capacity_, reserved_, bytes);
  if (slot.end - consumed_ > capacity_) return std::nullopt;
  reserved_ = slot.end;
  return slot;
}

void RmaReceiveRingWriter::credit(std::uint64_t consumed) {
  if (consumed < consumed_ || consumed > reserved_) {
    throw ProtocolError(fmt::format("a credit up to byte {} of an RMA receive ring, expected {} to {}",
                                    consumed, consumed_, reserved_));
  }
  consumed_ = consumed;
}

}  // namespace lapse
