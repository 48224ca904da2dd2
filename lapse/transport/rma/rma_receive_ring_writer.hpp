// The sender's view of its ring at one receiver.
#pragma once

#include <cstdint>
#include <optional>

#include "lapse/transport/rma/rma_receive_ring.hpp"

namespace lapse {

// Assigns slots in order; a slot is reusable when the reader has returned credit for it. Thread safety: none.
// Does no messaging.
class RmaReceiveRingWriter {
 public:
  // `capacity`: bytes of the ring, a multiple of rma_receive_ring::kAlignment.
  explicit RmaReceiveRingWriter(std::uint64_t capacity) : capacity_(capacity) {}

  // The next slot; nullopt if the payload is empty, larger than rma_receive_ring::largest_payload, or finds
  // no credit.
  std::optional<RmaRingSlot> reserve(std::uint64_t bytes);

  // The reader has consumed everything before this position. Throws ProtocolError if it is before an earlier
  // credit or after what was reserved.
  void credit(std::uint64_t consumed);

  std::uint64_t reserved() const { return reserved_; }
  bool all_consumed() const { return consumed_ == reserved_; }

 private:
  std::uint64_t capacity_;
  std::uint64_t reserved_ = 0;  // positions
  std::uint64_t consumed_ = 0;
};

}  // namespace lapse
