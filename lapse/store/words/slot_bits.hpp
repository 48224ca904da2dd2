// The part of a slot word that a memory access reads.
#pragma once

#include <cstdint>

namespace lapse {

// A part of SlotWord, which draws the layout and explains each bit: whether and where memory may be used, and
// the latch.
class SlotBits {
 public:
  static constexpr int kSequenceShift = 40;
  static constexpr int kRoleShift = 36;
  static constexpr std::uint64_t kLatchBit = std::uint64_t{1} << 39;
  static constexpr std::uint64_t kRoleMask = std::uint64_t{7} << kRoleShift;
  // The highest bit of the role; alone, the role of an owner.
  static constexpr std::uint64_t kUsableBit = std::uint64_t{4} << kRoleShift;
  static constexpr std::uint64_t kOwnerBits = kUsableBit;
  static constexpr std::uint64_t kReplicatedBit = std::uint64_t{1} << 35;
  static constexpr std::uint64_t kPrivateBit = std::uint64_t{1} << 34;
  static constexpr std::uint64_t kLeasedBit = std::uint64_t{1} << 33;
  static constexpr std::uint64_t kLowMask = 0xffff'ffffU;

  constexpr SlotBits() = default;
  constexpr explicit SlotBits(std::uint64_t bits) : bits_(bits) {}

  // Which slot words allow an access: those equal to `value` under `mask`.
  struct Test {
    std::uint64_t mask;
    std::uint64_t value;
  };
  // The main copy is local and not leased: every worker that can address the slot may use its memory, with
  // the latch held or, for reading, while no thread holds the latch.
  static constexpr Test kOpenOwner{kRoleMask | kLeasedBit, kOwnerBits};
  // Like kOpenOwner, for a main copy that has no replicas.
  static constexpr Test kSoleOwner{kRoleMask | kLeasedBit | kReplicatedBit, kOwnerBits};
  // Like kOpenOwner, for the main copy or a replica.
  static constexpr Test kOpenValue{kUsableBit | kLeasedBit, kUsableBit};

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool passes(const Test& test) const { return (bits_ & test.mask) == test.value; }
  constexpr bool latched() const { return (bits_ & kLatchBit) != 0; }
  constexpr bool leased() const { return (bits_ & kLeasedBit) != 0; }
  constexpr bool is_private() const { return (bits_ & kPrivateBit) != 0; }
  constexpr std::uint32_t low() const { return static_cast<std::uint32_t>(bits_ & kLowMask); }

  constexpr bool is_owner() const { return (bits_ & kRoleMask) == kOwnerBits; }
  constexpr bool is_open_owner() const { return passes(kOpenOwner); }
  // A replica is usable.
  constexpr bool is_copy() const { return (bits_ & kUsableBit) != 0 && !is_owner(); }
  constexpr bool is_replicated() const { return (bits_ & kReplicatedBit) != 0; }
  // A value is usable in this domain, any worker of the domain can address it, it is not leased and no thread
  // is writing: an optimistic read may begin.
  constexpr bool is_readable() const {
    return (bits_ & (kUsableBit | kLeasedBit | kLatchBit | kPrivateBit)) == kUsableBit;
  }

  constexpr SlotBits with_latch() const { return SlotBits(bits_ | kLatchBit); }
  // After a write: unlatched, sequence raised.
  constexpr SlotBits after_write() const {
    return SlotBits((bits_ & ~kLatchBit) + (std::uint64_t{1} << kSequenceShift));
  }

  constexpr bool operator==(const SlotBits&) const = default;

 protected:
  std::uint64_t bits_ = 0;
};

}  // namespace lapse
