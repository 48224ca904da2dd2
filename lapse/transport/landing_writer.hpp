// The sender's view of its ring at one receiver.
#pragma once

#include <cstdint>
#include <optional>

#include "lapse/transport/landing_ring.hpp"

namespace lapse {

// Hands out places in order; a place can be used again when the reader has returned credit for it.
// Thread safety: none. Holds no messaging.
class LandingWriter {
 public:
  // `capacity`: bytes of the ring, a multiple of landing_ring::kAlignment.
  explicit LandingWriter(std::uint64_t capacity) : capacity_(capacity) {}

  // The next place, or none when the payload is empty, larger than landing_ring::largest_payload, or finds no
  // credit.
  std::optional<LandingPlace> reserve(std::uint64_t bytes);

  // The reader has consumed everything before this position. Throws ProtocolError when it lies before an
  // earlier credit or behind what was reserved.
  void credit(std::uint64_t consumed);

  std::uint64_t reserved() const { return reserved_; }
  bool all_consumed() const { return consumed_ == reserved_; }

 private:
  std::uint64_t capacity_;
  std::uint64_t reserved_ = 0;  // positions
  std::uint64_t consumed_ = 0;
};

}  // namespace lapse
