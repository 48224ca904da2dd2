// A packet that is larger than a message of a host ring and arrives in pieces.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "lapse/core/types.hpp"
#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

// The receiver's end, for the packets of one sender, one after the other. Thread safety: none.
class AnnouncedPacket {
 public:
  // From the announcement until take.
  bool in_progress() const { return bytes_ != 0; }
  bool complete() const { return in_progress() && buffer_.size() == bytes_; }
  // Then no piece may be added before allocate has returned true.
  bool lacks_memory() const { return buffer_.capacity() < bytes_; }

  // A packet follows, whose pieces `buffer` takes. `announcement`: the message of the ring; packets of up to
  // `largest` bytes are not announced. Throws ProtocolError; OutOfMemory if memory for the packet cannot be
  // allocated now.
  void announce(std::span<const std::byte> announcement, std::uint64_t largest, PacketBuffer buffer,
                Rank from);
  // Tries again to allocate the memory; false if there still is none. Throws Error if such attempts have
  // failed for kPatience.
  bool allocate(Rank from);
  // Throws ProtocolError if there is no such packet.
  void append(std::span<const std::byte> piece, Rank from);

  std::span<const std::byte> bytes() const { return buffer_.bytes(); }
  PacketBuffer take() {
    bytes_ = 0;
    return std::exchange(buffer_, PacketBuffer());
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Long enough for workers that a failure ends to free memory.
  static constexpr std::chrono::seconds kPatience{30};

  bool reserve();

  PacketBuffer buffer_;
  std::uint64_t bytes_ = 0;                         // of the whole packet
  std::optional<Clock::time_point> refused_since_;  // the first attempt after the announcement
};

}  // namespace lapse
