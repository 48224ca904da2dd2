// A ring of bytes in memory that two ranks of a host share: messages of one sender for one receiver.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lapse {

namespace host_ring {

// Positions count the bytes ever used, gaps included, so that they only grow; byte p is stored at
// p % capacity.
using Position = std::atomic<std::uint64_t>;
static_assert(Position::is_always_lock_free && sizeof(Position) == sizeof(std::uint64_t));

enum class Kind : std::uint64_t {
  gap = 0,           // nothing up to the end of the ring: the next message begins at its start
  packet = 1,        // a packet follows
  announcement = 2,  // the size of a packet, u64, that comes by messages of MPI
};

// A message, header included, begins at a multiple of kAlignment and is one piece:
//
//     | bytes u64 | kind u64 | bytes … |
//
// As all lengths are rounded up to kAlignment, there is room for the header of a gap wherever the ring does
// not end.
struct Header {
  std::uint64_t bytes = 0;  // without the header; of a gap: 0
  Kind kind = Kind::gap;
};
inline constexpr std::uint64_t kAlignment = 64;
inline constexpr std::uint64_t kHeaderBytes = sizeof(Header);
static_assert(kHeaderBytes == 16, "messages are aligned for every element type");

constexpr std::uint64_t occupied(std::uint64_t message_bytes) {
  return (kHeaderBytes + message_bytes + kAlignment - 1) / kAlignment * kAlignment;
}
// The largest message: with four to a ring, the sender writes one while the receiver handles another.
// (An empty ring has room for two, wherever the last message ended.)
constexpr std::uint64_t largest_message(std::uint64_t capacity) {
  return capacity / 4 - kHeaderBytes;
}

// Published in place of a position by a sender that does not use its ring: it sends messages of MPI.
inline constexpr std::uint64_t kUnused = ~std::uint64_t{0};

}  // namespace host_ring

// Where a ring is stored; both positions are zero at the start. Each of the two ends maps it at an address of
// its own.
struct HostRingMemory {
  std::byte* bytes = nullptr;
  std::uint64_t capacity = 0;                // a multiple of host_ring::kAlignment
  host_ring::Position* published = nullptr;  // The end of what was written: stored by the sender.
  host_ring::Position* consumed = nullptr;   // The end of what was handled: stored by the receiver.
};

struct HostRingMessage {
  host_ring::Kind kind = host_ring::Kind::gap;
  std::span<const std::byte> bytes;  // Begins at a 16-byte boundary.
};

// The sender's end. Thread safety: none; one object for each ring.
class HostRingWriter {
 public:
  explicit HostRingWriter(const HostRingMemory& ring = {}) : ring_(ring) {}

  // Room for the bytes of one message of at least `least` and, where the ring does not end before, `most`
  // bytes, at most largest_message(capacity); null when there is none at the moment. It is the caller's until
  // the next call of reserve or write; the receiver does not see it.
  std::span<std::byte> reserve(std::uint64_t least, std::uint64_t most);
  // Publishes the message that was written to the room reserved last: its first `bytes` bytes.
  void publish(host_ring::Kind kind, std::uint64_t bytes);
  // Whether a message was written to the room reserved last.
  bool reserved(const std::byte* message) const {
    return place_ != nullptr && message == place_ + host_ring::kHeaderBytes;
  }

  // Copies the message into the ring and publishes it; false when there is no room at the moment.
  // `message` has at most largest_message(capacity) bytes.
  bool write(host_ring::Kind kind, std::span<const std::byte> message);
  // In place of the first message: none will come.
  void leave_unused() const { ring_.published->store(host_ring::kUnused, std::memory_order_release); }

 private:
  bool has_room(std::uint64_t end);

  HostRingMemory ring_;
  std::uint64_t written_ = 0;
  std::uint64_t offset_ = 0;  // written_ % capacity
  // Of the room reserved last.
  std::uint64_t begin_ = 0;
  std::byte* place_ = nullptr;
  // As seen last: the receiver's position is read only when the ring seems to be full.
  std::uint64_t consumed_ = 0;
};

// The receiver's end. Thread safety: none; one object for each ring.
class HostRingReader {
 public:
  explicit HostRingReader(const HostRingMemory& ring) : ring_(ring) {}

  // Whether a message has been published behind the one before.
  bool has_message() const { return ring_.published->load(std::memory_order_relaxed) != position_; }
  // The message that follows; has_message() is true and the message before was released. It stays in place
  // until release(). Throws ProtocolError when the ring contains what no sender writes.
  HostRingMessage message();
  // Its bytes can be written again.
  void release();
  // has_message() is true, but the sender leaves the ring unused: has_message() is false from now on.
  bool found_unused() {
    if (ring_.published->load(std::memory_order_relaxed) != host_ring::kUnused) return false;
    position_ = host_ring::kUnused;
    return true;
  }

 private:
  // Throws ProtocolError.
  [[noreturn]] void refuse(const host_ring::Header& header, std::uint64_t published) const;

  HostRingMemory ring_;
  std::uint64_t position_ = 0;  // of the message that follows
  std::uint64_t offset_ = 0;    // position_ % capacity
  // of the message in use
  std::uint64_t end_ = 0;
  std::uint64_t end_offset_ = 0;  // end_ % capacity
};

}  // namespace lapse
