// The released slots of one size, listed in the slots themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace lapse {

// A stack. The slot at its head is a node: its first four bytes name the next node, the rest names as many
// slots released after it as fit. So free slots cost no memory, and the slots to be taken next are known
// early enough to prefetch them.
//
// Thread safety: none. `address` gives the memory of a slot, at least 16 bytes.
class FreeSlots {
 public:
  explicit FreeSlots(std::size_t slot_bytes)
      : slot_bytes_(slot_bytes), room_(static_cast<std::uint32_t>(slot_bytes / sizeof(std::uint32_t)) - 1) {}

  bool empty() const { return node_ == kNone; }

  template <class Address>
  void push(std::uint32_t slot, Address&& address) {
    if (node_ != kNone && count_ < room_) {
      std::memcpy(number(address, count_++), &slot, sizeof slot);
      return;
    }
    std::memcpy(address(slot), &node_, sizeof node_);
    node_ = slot;
    count_ = 0;
  }

  // Requires a non-empty stack.
  template <class Address>
  std::uint32_t pop(Address&& address) {
    std::uint32_t slot = node_;
    if (count_ == 0) {
      // All nodes except the first are full.
      std::memcpy(&node_, address(slot), sizeof node_);
      count_ = node_ == kNone ? 0 : room_;
      for (std::uint32_t ahead = 1; ahead < kAhead && ahead <= count_; ++ahead) prefetch_at(address, ahead);
      return slot;
    }
    std::memcpy(&slot, number(address, --count_), sizeof slot);
    prefetch_at(address, kAhead);
    return slot;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kAhead = 6;
  static constexpr std::size_t kPrefetchBytes = 256;

  template <class Address>
  std::byte* number(Address&& address, std::uint32_t at) const {
    return address(node_) + (1 + std::size_t{at}) * sizeof(std::uint32_t);
  }
  // Prefetches the slot that the `ahead`-th pop from now takes, or the node if that is the slot. (Always
  // inlined: GCC 12 drops calls of a function that only prefetches.)
  template <class Address>
  [[gnu::always_inline]] void prefetch_at(Address&& address, std::uint32_t ahead) const {
    std::uint32_t soon = node_;
    if (soon == kNone) return;
    if (count_ >= ahead) std::memcpy(&soon, number(address, count_ - ahead), sizeof soon);
    const std::byte* const slot = address(soon);
    const std::size_t bytes = std::min(kPrefetchBytes, slot_bytes_);
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(slot + line, 1);
    __builtin_prefetch(slot + bytes - 1, 1);
  }

  std::size_t slot_bytes_;
  std::uint32_t room_;          // slot numbers in a node
  std::uint32_t node_ = kNone;  // the first
  std::uint32_t count_ = 0;     // slot numbers in the first node
};

}  // namespace lapse
