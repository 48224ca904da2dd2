#include "lapse/store/words/slot_word.hpp"

#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::LeaseState;
using lapse::Role;
using lapse::SlotWord;

namespace {
constexpr std::uint64_t kLargestSequence = (std::uint64_t{1} << 24) - 1;
}

TEST_CASE("A slot word has the fields of the drawing, from the top: 24, 1, 3, 1, 1, 1, 1, 32 bits") {
  CHECK(SlotWord::kSequenceMask == 0xffff'ff00'0000'0000U);
  CHECK(SlotWord::kLatchBit == 0x0000'0080'0000'0000U);
  CHECK(SlotWord::kRoleMask == 0x0000'0070'0000'0000U);
  CHECK(SlotWord::kReplicatedBit == 0x0000'0008'0000'0000U);
  CHECK(SlotWord::kPrivateBit == 0x0000'0004'0000'0000U);
  CHECK(SlotWord::kLeasedBit == 0x0000'0002'0000'0000U);
  CHECK(SlotWord::kQueuedBit == 0x0000'0001'0000'0000U);
  CHECK(SlotWord::kLowMask == 0x0000'0000'ffff'ffffU);
}

TEST_CASE("A slot word is taken apart") {
  const SlotWord word(0x1234'56c0'89ab'cdefU);
  CHECK(word.sequence() == 0x123456U);
  CHECK(word.latched());
  CHECK(word.role() == Role::owner);
  CHECK(word.low() == 0x89ab'cdefU);
  CHECK_FALSE(SlotWord(word.bits() & ~SlotWord::kLatchBit).latched());
  CHECK(SlotWord(SlotWord::kRoleMask).role() == static_cast<Role>(7));
}

TEST_CASE("A slot word of zeroes is absent, unlatched and without hint") {
  const SlotWord word;
  CHECK(word.bits() == 0);
  CHECK(word.role() == Role::absent);
  CHECK_FALSE(word.latched());
  CHECK_FALSE(word.hint().has_value());
  CHECK_FALSE(word.is_open_owner());
  CHECK_FALSE(word.is_readable());
}

TEST_CASE("Only an owner without a lease may be accessed, only an unlatched owner read") {
  for (std::uint64_t role = 0; role < 8; ++role) {
    for (const std::uint64_t bits : {std::uint64_t{0}, SlotWord::kReplicatedBit, SlotWord::kPrivateBit,
                                     SlotWord::kQueuedBit, SlotWord::kLowMask, SlotWord::kSequenceMask}) {
      const SlotWord word((role << SlotWord::kRoleShift) | bits);
      const bool owner = word.role() == Role::owner;
      CHECK(word.is_open_owner() == owner);
      const bool usable = role >= 4;  // the highest bit of the role
      CHECK(word.is_readable() == (usable && !word.slot().is_private));
      CHECK(word.with_latch().is_open_owner() == owner);
      CHECK_FALSE(word.with_latch().is_readable());
      const SlotWord leased(word.bits() | SlotWord::kLeasedBit);
      CHECK_FALSE(leased.is_open_owner());
      CHECK_FALSE(leased.is_readable());
    }
  }
}

TEST_CASE("A change of role raises the sequence and replaces everything else") {
  const SlotWord arriving = SlotWord(SlotWord::kReplicatedBit | 77U).with_role(Role::arriving, 5);
  CHECK(arriving.role() == Role::arriving);
  CHECK(arriving.low() == 5);
  CHECK(arriving.sequence() == 1);
  CHECK((arriving.bits() & SlotWord::kReplicatedBit) == 0);

  const SlotWord owner = arriving.with_role(Role::owner, 0xffff'ffffU);
  CHECK(owner.is_readable());
  CHECK(owner.low() == 0xffff'ffffU);
  CHECK(owner.sequence() == 2);

  const SlotWord gone = owner.with_latch().absent(Domain(3));
  CHECK(gone.role() == Role::absent);
  CHECK_FALSE(gone.latched());
  CHECK(gone.sequence() == 3);
  REQUIRE(gone.hint().has_value());
  CHECK(*gone.hint() == Domain(3));
}

TEST_CASE("A write raises the sequence, drops the latch and keeps the rest") {
  const SlotWord word = SlotWord().with_role(Role::owner, 99);
  const SlotWord written = word.with_latch().after_write();
  CHECK_FALSE(written.latched());
  CHECK(written.sequence() == word.sequence() + 1);
  CHECK(written.role() == Role::owner);
  CHECK(written.low() == 99);
}

TEST_CASE("The sequence wraps around without touching other fields") {
  const SlotWord last((kLargestSequence << SlotWord::kSequenceShift) |
                      SlotWord().with_role(Role::owner, 0xffff'ffffU).bits());
  REQUIRE(last.sequence() == kLargestSequence);
  const SlotWord written = last.with_latch().after_write();
  CHECK(written.sequence() == 0);
  CHECK(written.role() == Role::owner);
  CHECK(written.low() == 0xffff'ffffU);
  CHECK_FALSE(written.latched());
  CHECK(last.with_role(Role::arriving, 1).sequence() == 0);
  CHECK(last.absent(Domain(0)).sequence() == 0);
}

TEST_CASE("A hint is the domain plus one, changes alone, and exists in absent slot words only") {
  const SlotWord gone = SlotWord().with_role(Role::owner, 1).absent(Domain(0));
  CHECK(gone.low() == 1);
  CHECK(gone.hint() == Domain(0));
  const SlotWord changed = gone.with_hint(Domain(41));
  CHECK(changed.hint() == Domain(41));
  CHECK(changed.sequence() == gone.sequence());
  CHECK(changed.role() == Role::absent);
  CHECK_FALSE(SlotWord().with_role(Role::arriving, 7).hint().has_value());
  CHECK_FALSE(SlotWord().with_role(Role::owner, 7).hint().has_value());
}

TEST_CASE("A lease begins, is queued for and ends: unlatched, sequence raised, the rest kept") {
  const SlotWord open(SlotWord().with_role(Role::owner, 77).bits() | SlotWord::kReplicatedBit |
                      SlotWord::kPrivateBit);
  const auto check = [](SlotWord before, SlotWord after, bool leased, bool queued) {
    CHECK(after.leased() == leased);
    CHECK(after.queued() == queued);
    CHECK_FALSE(after.latched());
    CHECK(after.sequence() == before.sequence() + 1);
    CHECK(after.role() == Role::owner);
    CHECK(after.low() == 77);
    CHECK((after.bits() & SlotWord::kReplicatedBit) != 0);
    CHECK((after.bits() & SlotWord::kPrivateBit) != 0);
  };
  const SlotWord held = open.with_latch().with_lease(LeaseState::held);
  check(open, held, true, false);
  CHECK_FALSE(held.is_open_owner());
  CHECK_FALSE(held.is_readable());
  const SlotWord queued = held.with_lease(LeaseState::held_and_queued);
  check(held, queued, true, true);
  CHECK_FALSE(queued.is_open_owner());
  // After any lease, any other can follow.
  for (const SlotWord leased : {held, queued}) {
    check(leased, leased.with_lease(LeaseState::none), false, false);
    check(leased, leased.with_lease(LeaseState::held), true, false);
    CHECK(leased.with_lease(LeaseState::none).is_open_owner());
  }
}

TEST_CASE("A leased key that leaves takes no trace of the lease along") {
  const SlotWord leased = SlotWord().with_role(Role::owner, 77).with_lease(LeaseState::held_and_queued);
  for (const SlotWord next : {leased.absent(Domain(2)), leased.with_role(Role::owner, 5)}) {
    CHECK_FALSE(next.leased());
    CHECK_FALSE(next.queued());
    CHECK(next.sequence() == leased.sequence() + 1);
  }
}

TEST_CASE("The sequence wraps around at a lease without touching other fields") {
  const SlotWord last((kLargestSequence << SlotWord::kSequenceShift) |
                      SlotWord().with_role(Role::owner, 0xffff'ffffU).bits());
  const SlotWord held = last.with_lease(LeaseState::held);
  CHECK(held.sequence() == 0);
  CHECK(held.role() == Role::owner);
  CHECK(held.low() == 0xffff'ffffU);
  CHECK(held.leased());
}
