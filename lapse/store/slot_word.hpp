// The 64 bits that decide every access to a key in a domain.
#pragma once

#include <cstdint>
#include <optional>

#include "lapse/core/types.hpp"
#include "lapse/core/role_table.hpp"

namespace lapse {

// Whether a worker has an owned key for itself.
enum class LeaseState : std::uint8_t {
  none,
  held,
  held_and_queued,  // something waits for the end
};

// Where the content of a key is.
struct Slot {
  std::uint32_t number = 0;
  bool is_private = false;  // in memory that only the serving rank can address

  constexpr bool operator==(const Slot&) const = default;
};

// A slot word is a value: reading it once gives a consistent picture, changing it is one atomic store.
//
//    63          40   39    38 36      35         34       33      32    31                     0
//   | sequence 24 | latch | role | replicated | private | leased | queued | slot, hint or arrival |
//
// sequence    of this word alone, raised at every latch release after a write and at every change of role; kept
//             while absent and never taken from a message. 24 bits: a reader is fooled only when a multiple of
//             2^24 writes falls into one copy of a value.
// latch       held by the one thread that may change value and word.
// role        role_table.hpp; its highest bit: a value is usable here.
// replicated  writes must be marked: other domains hold copies of the value, or this one is a copy.
// private     the slot is in memory that only the serving rank can address.
// leased      a worker holds the key exclusively.
// queued      operations wait for the end of a lease.
// low half    by role (low_half): the number of the slot, the number of the arrival record, or 1 + the domain
//             that last was known to own the key (0: unknown).
class SlotWord {
 public:
  static constexpr int kSequenceShift = 40;
  static constexpr int kRoleShift = 36;
  static constexpr std::uint64_t kLatchBit = std::uint64_t{1} << 39;
  static constexpr std::uint64_t kRoleMask = std::uint64_t{7} << kRoleShift;
  static constexpr std::uint64_t kUsableBit = std::uint64_t{kUsableRoleBit} << kRoleShift;
  static constexpr std::uint64_t kReplicatedBit = std::uint64_t{1} << 35;
  static constexpr std::uint64_t kPrivateBit = std::uint64_t{1} << 34;
  static constexpr std::uint64_t kLeasedBit = std::uint64_t{1} << 33;
  static constexpr std::uint64_t kQueuedBit = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kLowMask = 0xffff'ffffU;
  static constexpr std::uint64_t kSequenceMask = ~std::uint64_t{0} << kSequenceShift;

  constexpr SlotWord() = default;
  constexpr explicit SlotWord(std::uint64_t bits) : bits_(bits) {}

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr Role role() const { return static_cast<Role>((bits_ & kRoleMask) >> kRoleShift); }
  constexpr bool latched() const { return (bits_ & kLatchBit) != 0; }
  constexpr bool leased() const { return (bits_ & kLeasedBit) != 0; }
  constexpr bool queued() const { return (bits_ & kQueuedBit) != 0; }
  constexpr std::uint32_t sequence() const { return static_cast<std::uint32_t>(bits_ >> kSequenceShift); }
  constexpr std::uint32_t low() const { return static_cast<std::uint32_t>(bits_ & kLowMask); }

  constexpr Slot slot() const { return {low(), (bits_ & kPrivateBit) != 0}; }

  // The main copy is here and nobody leases it: every worker who can address the slot may use its memory, with
  // the latch held or, for reading, while nobody holds it.
  constexpr bool is_open_owner() const { return (bits_ & (kRoleMask | kLeasedBit)) == kOwnerBits; }
  // A value is usable here, any worker of the domain can address it, nobody leases it and nobody is writing: an
  // optimistic read may begin.
  constexpr bool is_readable() const {
    return (bits_ & (kUsableBit | kLeasedBit | kLatchBit | kPrivateBit)) == kUsableBit;
  }
  constexpr DirectAccess direct_access() const { return lapse::direct_access(role(), leased()); }
  constexpr Handling handling() const { return lapse::handling(role(), leased()); }

  constexpr std::optional<Domain> hint() const {
    if (low_half(role()) != LowHalf::hint || low() == 0) return std::nullopt;
    return Domain(static_cast<std::int32_t>(low() - 1));
  }

  constexpr SlotWord with_latch() const { return SlotWord(bits_ | kLatchBit); }
  // The word after a write: unlatched, sequence raised.
  constexpr SlotWord after_write() const {
    return SlotWord((bits_ & ~kLatchBit) + (std::uint64_t{1} << kSequenceShift));
  }
  // The word after a change of role: sequence raised, everything else new.
  constexpr SlotWord with_role(Role role, std::uint32_t low) const {
    const std::uint64_t sequence = (bits_ & kSequenceMask) + (std::uint64_t{1} << kSequenceShift);
    return SlotWord(sequence | (static_cast<std::uint64_t>(role) << kRoleShift) | low);
  }
  constexpr SlotWord owner(Slot slot) const {
    const SlotWord word = with_role(Role::owner, slot.number);
    return slot.is_private ? SlotWord(word.bits_ | kPrivateBit) : word;
  }
  // The word after a lease has begun, ended or changed: unlatched, sequence raised.
  constexpr SlotWord with_lease(LeaseState lease) const {
    const std::uint64_t bits = lease == LeaseState::none   ? 0
                               : lease == LeaseState::held ? kLeasedBit
                                                           : kLeasedBit | kQueuedBit;
    return SlotWord((after_write().bits_ & ~(kLeasedBit | kQueuedBit)) | bits);
  }
  constexpr SlotWord absent(Domain hint) const {
    return with_role(Role::absent, static_cast<std::uint32_t>(hint.value()) + 1);
  }
  // An absent word keeps its sequence when only the hint changes.
  constexpr SlotWord with_hint(Domain hint) const {
    return SlotWord((bits_ & ~kLowMask) | (static_cast<std::uint32_t>(hint.value()) + 1));
  }

  constexpr bool operator==(const SlotWord&) const = default;

 private:
  static constexpr std::uint64_t kOwnerBits = static_cast<std::uint64_t>(Role::owner) << kRoleShift;

  std::uint64_t bits_ = 0;
};

}  // namespace lapse
