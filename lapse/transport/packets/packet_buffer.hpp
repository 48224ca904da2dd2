// A growing block of bytes for one packet, aligned for any element type and never zero-filled. Uses its own,
// reused memory or, as long as the packet fits, memory that the transport sends from.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <utility>

namespace lapse {

// Thread safety: none. Contents start at a 16-byte boundary.
class PacketBuffer {
 public:
  static constexpr std::size_t kAlignment = 16;
  // Small enough that no sum or product of lengths overflows.
  static constexpr std::size_t kMaxBytes = std::numeric_limits<std::size_t>::max() / 4;

  PacketBuffer() = default;
  // An empty packet in the transport's memory; a packet that outgrows it moves to the heap.
  static PacketBuffer in_place(std::byte* memory, std::size_t bytes) {
    PacketBuffer buffer;
    buffer.data_ = memory;
    buffer.capacity_ = bytes;
    buffer.in_place_ = true;
    return buffer;
  }
  PacketBuffer(PacketBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        in_place_(std::exchange(other.in_place_, false)) {}
  PacketBuffer& operator=(PacketBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(in_place_, other.in_place_);
    return *this;
  }
  ~PacketBuffer() {
    if (!in_place_) std::free(data_);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return capacity_; }
  // Whether its memory is the transport's.
  bool in_place() const { return in_place_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

  void clear() { size_ = 0; }

  // Adds space for `bytes` at the end and returns its start; valid until the next call. Throws
  // std::bad_alloc, with no effect.
  std::byte* extend(std::size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]] {
      if (bytes > kMaxBytes - size_) throw std::bad_alloc();
      grow(size_ + bytes);
    }
    std::byte* begin = data_ + size_;
    size_ += bytes;
    return begin;
  }

  // Drops the last `bytes` bytes.
  void shrink(std::size_t bytes) { size_ -= bytes; }

  // Makes the capacity at least `bytes`, without the slack of growth by doubling. Throws std::bad_alloc, with
  // no effect.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    if (bytes > kMaxBytes) throw std::bad_alloc();
    reallocate((bytes + kAlignment - 1) / kAlignment * kAlignment);
  }

  void append(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }

 private:
  void grow(std::size_t needed) {
    std::size_t capacity = capacity_ < 512 ? 1024 : capacity_ * 2;
    while (capacity < needed) capacity *= 2;
    reallocate(capacity);
  }

  void reallocate(std::size_t capacity) {
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, capacity));
    if (data == nullptr) throw std::bad_alloc();
    if (size_ > 0) std::memcpy(data, data_, size_);
    if (!in_place_) std::free(data_);
    data_ = data;
    capacity_ = capacity;
    in_place_ = false;
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool in_place_ = false;
};

}  // namespace lapse
