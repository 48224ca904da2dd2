// The receiver's view of one sender's ring.
#pragma once

#include <cstdint>

#include "lapse/transport/rma/rma_receive_ring.hpp"

namespace lapse {

// Payloads are announced in slot order and consumed one by one. Thread safety: none. Does no messaging.
class RmaReceiveRingReader {
 public:
  // `capacity`: the same as the writer's.
  explicit RmaReceiveRingReader(std::uint64_t capacity) : capacity_(capacity) {}

  // A payload has arrived. Returns where in the ring it begins. Throws ProtocolError if its slot is not the
  // next one, the payload is impossible, or the previous payload has not been consumed.
  std::uint64_t arrived(std::uint64_t begin, std::uint64_t bytes);
  // The payload that arrived last has been handled.
  void consumed();
  bool handling() const { return arrived_ != consumed_; }

  // Whether enough has been consumed since the last credit to notify the writer.
  bool owes_credit() const { return consumed_ - returned_ >= capacity_ / 4; }
  // Whether anything has been consumed since the last credit.
  bool owes_anything() const { return consumed_ != returned_; }
  // Returns the position to report to the writer now.
  std::uint64_t take_credit() { return returned_ = consumed_; }

 private:
  std::uint64_t capacity_;
  std::uint64_t arrived_ = 0;  // positions
  std::uint64_t consumed_ = 0;
  std::uint64_t returned_ = 0;
};

}  // namespace lapse
