// Packet buffers kept for reuse.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "lapse/transport/packets/packet_buffer.hpp"

namespace lapse {

// Thread safety: none. Keeps buffers of at most kKeptBytes in total, so that a burst of large packets does
// not stay in memory indefinitely; frees the rest. Last in, first out: a warm buffer is reused first.
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
      return;  // Frees the buffer; that needs no memory.
    }
    bytes_ += capacity;
  }

 private:
  std::vector<PacketBuffer> free_;
  std::size_t bytes_ = 0;
};

}  // namespace lapse
