// The 64 bits that control every access to a key in a domain.
#pragma once

#include <cstdint>
#include <optional>

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/words/slot_bits.hpp"

namespace lapse {

// Whether a worker holds an owned key exclusively.
enum class LeaseState : std::uint8_t {
  none,
  held,
  held_and_queued,  // an operation waits for its end
};

// The place of a key's value and optimizer state.
struct Slot {
  std::uint32_t number = 0;
  bool is_private = false;  // in memory that only the serving rank can address

  constexpr bool operator==(const Slot&) const = default;
};

// A slot word is a value: one read gives a consistent snapshot, and a change is one atomic store.
//
//    63          40   39    38 36      35         34       33      32    31                     0
//   | sequence 24 | latch | role | replicated | private | leased | queued | slot, hint, record…   |
//
// sequence    of this slot word only, raised at every latch release after a write and at every change of
//             role; kept while absent and never taken from a message. 24 bits: a reader is deceived only if a
//             multiple of 2^24 writes occurs while it copies a value.
// latch       held by the one thread that may change value and slot word.
// role        role_table.hpp; its highest bit: a value is usable in this domain.
// replicated  writes must be marked: other domains hold replicas of the value, or this is a replica.
// private     the slot is in memory that only the serving rank can address.
// leased      a worker holds the key exclusively.
// queued      operations wait for the end of a lease.
// low half    by role (low_half): the number of the slot, of the arrival record, of the replica's record, or
//             1 + the last known owner domain of the key (0: unknown).
class SlotWord : public SlotBits {
 public:
  static constexpr std::uint64_t kQueuedBit = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kSequenceMask = ~std::uint64_t{0} << kSequenceShift;
  static_assert(kUsableBit == std::uint64_t{kUsableRoleBit} << kRoleShift);
  static_assert(kOwnerBits == static_cast<std::uint64_t>(Role::owner) << kRoleShift);

  constexpr SlotWord() = default;
  constexpr explicit SlotWord(std::uint64_t bits) : SlotBits(bits) {}
  constexpr explicit SlotWord(SlotBits bits) : SlotBits(bits) {}

  constexpr Role role() const { return static_cast<Role>((bits_ & kRoleMask) >> kRoleShift); }
  constexpr bool queued() const { return (bits_ & kQueuedBit) != 0; }
  constexpr std::uint32_t sequence() const { return static_cast<std::uint32_t>(bits_ >> kSequenceShift); }
  constexpr Slot slot() const { return {low(), is_private()}; }
  constexpr DirectAccess direct_access() const { return lapse::direct_access(role(), leased()); }
  constexpr Handling handling() const { return lapse::handling(role(), leased()); }

  constexpr std::optional<Domain> hint() const {
    if (low_half(role()) != LowHalf::hint || low() == 0) return std::nullopt;
    return Domain(static_cast<std::int32_t>(low() - 1));
  }

  constexpr SlotWord with_latch() const { return SlotWord(SlotBits::with_latch()); }
  constexpr SlotWord after_write() const { return SlotWord(SlotBits::after_write()); }
  // The slot word after a change of role: sequence raised, everything else new.
  constexpr SlotWord with_role(Role role, std::uint32_t low) const {
    const std::uint64_t sequence = (bits_ & kSequenceMask) + (std::uint64_t{1} << kSequenceShift);
    return SlotWord(sequence | (static_cast<std::uint64_t>(role) << kRoleShift) | low);
  }
  constexpr SlotWord with_value(Role role, Slot slot, bool replicated) const {
    const std::uint64_t flags = (slot.is_private ? kPrivateBit : 0) | (replicated ? kReplicatedBit : 0);
    return SlotWord(with_role(role, slot.number).bits_ | flags);
  }
  constexpr SlotWord owner(Slot slot, bool replicated = false) const {
    return with_value(Role::owner, slot, replicated);
  }
  // A replica, of which every change is marked.
  constexpr SlotWord replica(Slot slot) const { return with_value(Role::replica, slot, true); }
  constexpr SlotWord upgrading() const { return with_value(Role::upgrading, slot(), true); }
  // Other domains begin to hold replicas of the value, or none does any more.
  constexpr SlotWord with_replicated(bool replicated) const {
    return SlotWord((bits_ & ~kReplicatedBit) | (replicated ? kReplicatedBit : 0));
  }
  // The slot word after a lease began, ended or changed: unlatched, sequence raised.
  constexpr SlotWord with_lease(LeaseState lease) const {
    const std::uint64_t bits = lease == LeaseState::none   ? 0
                               : lease == LeaseState::held ? kLeasedBit
                                                           : kLeasedBit | kQueuedBit;
    return SlotWord((after_write().bits_ & ~(kLeasedBit | kQueuedBit)) | bits);
  }
  constexpr SlotWord absent(Domain hint) const {
    return with_role(Role::absent, static_cast<std::uint32_t>(hint.value()) + 1);
  }
  constexpr SlotWord absent() const { return with_role(Role::absent, 0); }
  // An absent slot word keeps its sequence if only the hint changes.
  constexpr SlotWord with_hint(Domain hint) const {
    return SlotWord((bits_ & ~kLowMask) | (static_cast<std::uint32_t>(hint.value()) + 1));
  }

  constexpr bool operator==(const SlotWord&) const = default;
};

// The tests that accesses inline say what the role table says. Only a main copy can be leased.
static_assert([] {
  for (int number = 0; number < 2 * 8; ++number) {
    const auto role = static_cast<Role>(number / 2);
    const bool leased = number % 2 == 1;
    if (role > Role::upgrading || (leased && role != Role::owner)) continue;
    const SlotWord word =
        SlotWord().with_role(role, 0).with_lease(leased ? LeaseState::held : LeaseState::none);
    const DirectAccess allowed = word.direct_access();
    if (word.passes(SlotBits::kOpenOwner) != (allowed == DirectAccess::main)) return false;
    if (word.passes(SlotBits::kOpenValue) != (allowed != DirectAccess::nothing)) return false;
    if (word.is_readable() != (allowed != DirectAccess::nothing)) return false;
    if (word.is_copy() != (allowed == DirectAccess::copy)) return false;
  }
  return true;
}());

}  // namespace lapse
