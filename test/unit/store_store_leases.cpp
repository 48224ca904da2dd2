#include <cstring>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::Domain;
using lapse::ElementType;
using lapse::Key;
using lapse::KeyWords;
using lapse::LeaseState;
using lapse::ProtocolError;
using lapse::Role;
using lapse::Slot;
using lapse::SlotWord;
using lapse::Store;
using lapse::ValueLayout;
using lapse::ValueSizes;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::size_t kLength = 5;
using Value = std::vector<std::int32_t>;
constexpr Key kKey(2);
constexpr Key kAbsent(3);
const Value kFirst{1, 2, 3, 4, 5};

KeyWords words_of(LimitedRegionAllocator& regions, bool sparse) {
  return sparse ? KeyWords::sparse(regions, 10) : KeyWords::dense(regions, 10);
}

// A store that owns kKey.
struct Fixture {
  explicit Fixture(bool sparse = false)
      : store(regions, words_of(regions, sparse), ValueSizes(ValueLayout{ElementType::int32, kLength}), 10,
              0) {
    store.create(kKey, [](std::byte* to) { std::memcpy(to, kFirst.data(), kLength * 4); });
  }

  LimitedRegionAllocator regions;
  Store store;

  SlotWord word() const { return store.word(kKey); }
  Value read() const {
    Value value(kLength);
    if (!store.read(kKey, reinterpret_cast<std::byte*>(value.data()))) return {};
    return value;
  }
  // The holder of a lease writes in place.
  void write_leased(std::int32_t element) {
    std::memcpy(store.leased_content(kKey), &element, sizeof element);
  }
};

}  // namespace

TEST_CASE("Only its holder reads or changes a leased key") {
  for (const bool sparse : {false, true}) {
    Fixture fixture(sparse);
    REQUIRE(fixture.store.grant_lease(kKey));
    CHECK(fixture.word().leased());
    CHECK_FALSE(fixture.word().latched());
    CHECK(fixture.word().role() == Role::owner);
    CHECK(fixture.read().empty());
    bool called = false;
    CHECK_FALSE(fixture.store.update(kKey, [&](std::byte*) { called = true; }));
    CHECK_FALSE(called);
    CHECK_FALSE(fixture.store.grant_lease(kKey));
    fixture.store.prefetch_value(kKey);
    CHECK(std::memcmp(fixture.store.leased_content(kKey), kFirst.data(), kLength * 4) == 0);
    fixture.write_leased(42);
    CHECK(fixture.store.keys_here() == 1);
    CHECK(fixture.store.release_lease(kKey));
    CHECK(fixture.read() == Value{42, 2, 3, 4, 5});
    CHECK(fixture.store.update(kKey, [](std::byte*) {}));
  }
}

TEST_CASE("Grant and release of a lease raise the sequence, a refused grant does not") {
  Fixture fixture;
  const std::uint32_t before = fixture.word().sequence();
  REQUIRE(fixture.store.grant_lease(kKey));
  CHECK(fixture.word().sequence() == before + 1);
  const SlotWord held = fixture.word();
  CHECK_FALSE(fixture.store.grant_lease(kKey));
  CHECK(fixture.word() == held);
  REQUIRE(fixture.store.release_lease(kKey));
  CHECK(fixture.word().sequence() == before + 2);
  CHECK_FALSE(fixture.word().leased());
}

TEST_CASE("A lease that something waits for cannot be released by its holder") {
  Fixture fixture;
  const SlotWord open = fixture.word();
  CHECK_FALSE(fixture.store.mark_queued(kKey));
  CHECK(fixture.word() == open);
  REQUIRE(fixture.store.grant_lease(kKey));
  CHECK(fixture.store.mark_queued(kKey));
  CHECK(fixture.word().queued());
  CHECK(fixture.word().leased());
  const SlotWord queued = fixture.word();
  CHECK(fixture.store.mark_queued(kKey));
  CHECK(fixture.word() == queued);
  CHECK_FALSE(fixture.store.release_lease(kKey));
  CHECK(fixture.word() == queued);
  CHECK(fixture.read().empty());
}

TEST_CASE("The engine ends a lease that was queued for, or gives it to the next") {
  Fixture fixture;
  REQUIRE(fixture.store.grant_lease(kKey));
  REQUIRE(fixture.store.mark_queued(kKey));
  fixture.write_leased(7);
  std::uint32_t sequence = fixture.word().sequence();
  fixture.store.set_lease(kKey, LeaseState::held);
  CHECK(fixture.word().leased());
  CHECK_FALSE(fixture.word().queued());
  CHECK(fixture.word().sequence() == ++sequence);
  fixture.store.set_lease(kKey, LeaseState::held_and_queued);
  CHECK(fixture.word().queued());
  CHECK(fixture.word().sequence() == ++sequence);
  CHECK_FALSE(fixture.store.release_lease(kKey));
  fixture.store.set_lease(kKey, LeaseState::none);
  CHECK(fixture.word().sequence() == ++sequence);
  CHECK(fixture.read()[0] == 7);
}

TEST_CASE("Only a key that is owned and open can be leased") {
  for (const bool sparse : {false, true}) {
    Fixture fixture(sparse);
    Store& store = fixture.store;
    CHECK_FALSE(store.grant_lease(kAbsent));
    CHECK_FALSE(store.mark_queued(kAbsent));
    CHECK_THROWS_AS(store.release_lease(kAbsent), ProtocolError);
    CHECK_THROWS_AS(store.set_lease(kAbsent, LeaseState::held), ProtocolError);
    store.begin_arrival(kAbsent, 0);
    CHECK_FALSE(store.grant_lease(kAbsent));
    CHECK_FALSE(store.mark_queued(kAbsent));
    // An open key has no lease that could end or be queued for.
    CHECK_FALSE(store.mark_queued(kKey));
    CHECK_THROWS_AS(store.release_lease(kKey), ProtocolError);
    CHECK_THROWS_AS(store.set_lease(kKey, LeaseState::none), ProtocolError);
    std::vector<std::byte> value(kLength * 4);
    CHECK_THROWS_AS(store.transfer_leased_ownership(kKey, value.data(), Domain(1)), ProtocolError);
    CHECK(fixture.read() == kFirst);
  }
}

TEST_CASE("Ownership of a leased key is not transferred; after the lease has ended it is") {
  Fixture fixture;
  Value value(kLength);
  auto* to = reinterpret_cast<std::byte*>(value.data());
  REQUIRE(fixture.store.grant_lease(kKey));
  const SlotWord held = fixture.word();
  CHECK_FALSE(fixture.store.transfer_ownership(kKey, to, Domain(4)));
  CHECK(fixture.word() == held);
  CHECK(value == Value(kLength));
  CHECK(fixture.store.keys_here() == 1);
  fixture.write_leased(8);
  fixture.store.transfer_leased_ownership(kKey, to, Domain(4));
  CHECK(value == Value{8, 2, 3, 4, 5});
  CHECK(fixture.word().role() == Role::absent);
  CHECK(fixture.word().hint() == Domain(4));
  CHECK_FALSE(fixture.word().leased());
  CHECK(fixture.word().sequence() == held.sequence() + 1);
  CHECK(fixture.store.keys_here() == 0);
  CHECK(fixture.store.content_bytes_here() == 0);
  CHECK(fixture.store.allocate_slot(kKey) == held.slot());
}

TEST_CASE("A key can be leased from the moment it arrives") {
  for (const LeaseState lease : {LeaseState::held, LeaseState::held_and_queued}) {
    Fixture fixture;
    fixture.store.begin_arrival(kAbsent, 0);
    const Slot slot = fixture.store.allocate_slot(kAbsent);
    fixture.store.publish_owner(kAbsent, slot, lease);
    CHECK(fixture.store.word(kAbsent).leased());
    CHECK(fixture.store.word(kAbsent).queued() == (lease == LeaseState::held_and_queued));
    CHECK(fixture.store.leased_content(kAbsent) == fixture.store.address(slot));
    std::vector<std::byte> value(kLength * 4);
    CHECK_FALSE(fixture.store.read(kAbsent, value.data()));
    CHECK(fixture.store.release_lease(kAbsent) == (lease == LeaseState::held));
  }
}
