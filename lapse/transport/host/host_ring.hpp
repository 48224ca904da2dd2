// A ring of bytes in memory shared by two ranks of a host: messages from one sender to one receiver.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lapse {

namespace host_ring {

// Positions count all bytes ever used, gaps included, so they only grow; byte p is stored at p % capacity.
using Position = std::atomic<std::uint64_t>;
static_assert(Position::is_always_lock_free && sizeof(Position) == sizeof(std::uint64_t));

enum class Kind : std::uint64_t {
  gap = 0,           // nothing up to the end of the ring: the next message begins at its start
  packet = 1,        // a packet follows
  announcement = 2,  // the size, u64, of a larger packet, which follows in pieces
  piece = 3,         // the next bytes of the announced packet
};

// A message, header included, is contiguous and begins at a multiple of kAlignment:
//
//     | bytes u64 | kind u64 | bytes … |
//
// All lengths are rounded up to kAlignment, so a gap's header always fits before the end of the ring.
struct Header {
  std::uint64_t bytes = 0;  // excludes the header; 0 for a gap
  Kind kind = Kind::gap;
};
inline constexpr std::uint64_t kAlignment = 64;
inline constexpr std::uint64_t kHeaderBytes = sizeof(Header);
static_assert(kHeaderBytes == 16, "messages are aligned for every element type");

constexpr std::uint64_t occupied(std::uint64_t message_bytes) {
  return (kHeaderBytes + message_bytes + kAlignment - 1) / kAlignment * kAlignment;
}
// The largest message: with four to a ring, the sender writes one while the receiver handles another. (An
// empty ring has space for two, wherever the last message ended.)
constexpr std::uint64_t largest_message(std::uint64_t capacity) {
  return capacity / 4 - kHeaderBytes;
}

// Published instead of a position by a sender that does not use its ring but sends MPI messages.
inline constexpr std::uint64_t kUnused = ~std::uint64_t{0};

}  // namespace host_ring

// The memory of a ring; both positions are initially zero. Each end maps it at its own address.
struct HostRingMemory {
  std::byte* bytes = nullptr;
  std::uint64_t capacity = 0;                // a multiple of host_ring::kAlignment
  host_ring::Position* published = nullptr;  // End of what was written; stored by the sender.
  host_ring::Position* consumed = nullptr;   // End of what was handled; stored by the receiver.
};

struct HostRingMessage {
  host_ring::Kind kind = host_ring::Kind::gap;
  std::span<const std::byte> bytes;  // Begins at a 16-byte boundary.
};

// The sender's end. Thread safety: none; one object for each ring.
class HostRingWriter {
 public:
  explicit HostRingWriter(const HostRingMemory& ring = {}) : ring_(ring) {}

  // Reserves space for one message of at least `least` bytes and, unless the ring ends earlier, `most` bytes;
  // at most largest_message(capacity). Null if there is no space now. The space is the caller's, unseen by
  // the receiver, until the next reserve or write.
  std::span<std::byte> reserve(std::uint64_t least, std::uint64_t most);
  // Publishes the first `bytes` bytes of the space reserved last as a message.
  void publish(host_ring::Kind kind, std::uint64_t bytes);
  // Whether `message` is the space reserved last.
  bool reserved(const std::byte* message) const {
    return place_ != nullptr && message == place_ + host_ring::kHeaderBytes;
  }

  // Copies the message into the ring and publishes it; false if there is no space now.
  // `message` has at most largest_message(capacity) bytes.
  bool write(host_ring::Kind kind, std::span<const std::byte> message);
  // How many bytes of the ring were ever used.
  std::uint64_t written() const { return written_; }
  // Called instead of sending the first message: none will follow.
  void leave_unused() const { ring_.published->store(host_ring::kUnused, std::memory_order_release); }

 private:
  bool has_room(std::uint64_t end);

  HostRingMemory ring_;
  std::uint64_t written_ = 0;
  std::uint64_t offset_ = 0;  // written_ % capacity
  // The space reserved last.
  std::uint64_t begin_ = 0;
  std::byte* place_ = nullptr;
  // Cached: the receiver's position is read only when the ring seems full.
  std::uint64_t consumed_ = 0;
};

// The receiver's end. Thread safety: none; one object for each ring.
class HostRingReader {
 public:
  explicit HostRingReader(const HostRingMemory& ring) : ring_(ring) {}

  // Whether a message has been published after the current one.
  bool has_message() const { return ring_.published->load(std::memory_order_relaxed) != position_; }
  // Returns the next message, which stays in place until release(). Requires has_message() and that the
  // previous message was released. Throws ProtocolError if the ring contains what no sender writes.
  HostRingMessage message();
  // Allows the sender to overwrite the message's bytes.
  void release();
  // Requires has_message(). True if the sender does not use the ring; then has_message() is false from now
  // on.
  bool found_unused() {
    if (ring_.published->load(std::memory_order_relaxed) != host_ring::kUnused) return false;
    position_ = host_ring::kUnused;
    return true;
  }

 private:
  // Throws ProtocolError.
  [[noreturn]] void refuse(const host_ring::Header& header, std::uint64_t published) const;

  HostRingMemory ring_;
  std::uint64_t position_ = 0;  // of the next message
  std::uint64_t offset_ = 0;    // position_ % capacity
  // of the message in use
  std::uint64_t end_ = 0;
  std::uint64_t end_offset_ = 0;  // end_ % capacity
};

}  // namespace lapse
