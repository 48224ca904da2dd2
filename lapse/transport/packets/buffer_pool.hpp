// Packet buffers that wait to be used again.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

// Thread safety: none. Keeps buffers of at most kKeptBytes in all, so that a burst of large packets does not
// stay in memory indefinitely; what exceeds it is freed. Last in, first out: a warm buffer is reused first.
class BufferPool {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

  PacketBuffer acquire() {
    if (free_.empty()) return {};
    PacketBuffer buffer = std::move(free_.back());
    free_.pop_back();
    bytes_ -= buffer.capacity();
    return buffer;
  }

  void release(PacketBuffer buffer) {
    if (buffer.capacity() == 0 || buffer.in_place() || bytes_ + buffer.capacity() > kKeptBytes) return;
    buffer.clear();
    const std::size_t capacity = buffer.capacity();
    try {
      free_.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {
      return;  // It is freed: to give memory back needs none.
    }
    bytes_ += capacity;
  }

 private:
  std::vector<PacketBuffer> free_;
  std::size_t bytes_ = 0;
};

}  // namespace lapse
