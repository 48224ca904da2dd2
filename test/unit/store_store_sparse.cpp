#include <cstring>
#include <stdexcept>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/memory_budget.hpp"
#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::Domain;
using lapse::ElementType;
using lapse::Key;
using lapse::KeyWords;
using lapse::OutOfMemory;
using lapse::ProtocolError;
using lapse::Role;
using lapse::Slot;
using lapse::Store;
using lapse::ValueLayout;
using lapse::ValueSizes;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::size_t kLength = 5;
constexpr std::size_t kBytes = kLength * 4;
using Value = std::vector<std::int32_t>;

constexpr Key kOwned(0);
constexpr Key kOther(~std::uint64_t{0});
constexpr Key kNew(std::uint64_t{1} << 40);
const Value kFirst{1, 2, 3, 4, 5};

Store sparse_store(LimitedRegionAllocator& regions, std::uint64_t max_keys = 1000) {
  return {regions, KeyWords::sparse(regions, max_keys), ValueSizes(ValueLayout{ElementType::int32, kLength}),
          max_keys, 0};
}

// A sparse store in which two keys are owned.
struct Fixture {
  LimitedRegionAllocator regions;
  Store store = sparse_store(regions);

  Fixture() {
    create(kOwned, kFirst);
    create(kOther, Value(kLength, 9));
  }
  void create(Key key, const Value& value) {
    store.create(key, [&](std::byte* to) { std::memcpy(to, value.data(), kBytes); });
  }
  Value read(Key key) {
    Value value(kLength);
    if (!store.read(key, reinterpret_cast<std::byte*>(value.data()))) return {};
    return value;
  }
  Value transfer_ownership(Key key, Domain next) {
    Value value(kLength);
    CHECK(store.transfer_ownership(key, reinterpret_cast<std::byte*>(value.data()), next));
    return value;
  }
};

}  // namespace

TEST_CASE("A sparse store takes any key and begins with nothing") {
  LimitedRegionAllocator regions;
  const Store store = sparse_store(regions);
  CHECK(store.is_sparse());
  std::vector<std::byte> value(kBytes);
  for (const Key key : {kOwned, kOther, kNew}) {
    CHECK(store.has(key));
    CHECK(store.word(key).bits() == 0);
    CHECK_FALSE(store.known(key).has_value());
    CHECK_FALSE(store.read(key, value.data()));
  }
  CHECK(store.keys_here() == 0);
  CHECK(store.content_bytes_here() == 0);
}

TEST_CASE("Created keys of a sparse store are read, updated and counted") {
  Fixture fixture;
  CHECK(fixture.read(kOwned) == kFirst);
  CHECK(fixture.read(kOther) == Value(kLength, 9));
  CHECK(fixture.store.update(kOwned, [](std::byte* value) { value[0] = std::byte{7}; }));
  CHECK(fixture.read(kOwned)[0] == 7);
  CHECK(fixture.store.keys_here() == 2);
  CHECK(fixture.store.content_bytes_here() == 2 * kBytes);
  CHECK(fixture.store.known(kOwned)->number == 0U);
  CHECK(fixture.store.known(kOther)->number == 1U);
}

TEST_CASE("A lookup of a key of a sparse store does not give the key a slot word") {
  Fixture fixture;
  bool called = false;
  CHECK(fixture.read(kNew).empty());
  CHECK_FALSE(fixture.store.update(kNew, [&](std::byte*) { called = true; }));
  CHECK_FALSE(called);
  CHECK_FALSE(fixture.store.grant_lease(kNew));
  CHECK_FALSE(fixture.store.mark_queued(kNew));
  fixture.store.prefetch_far(kNew);
  fixture.store.prefetch_word(kNew);
  fixture.store.prefetch_value(kNew);
  CHECK(fixture.store.word(kNew).role() == Role::absent);
  CHECK_FALSE(fixture.store.known(kNew).has_value());
}

TEST_CASE("A key of a sparse store may arrive and leave any number of times") {
  Fixture fixture;
  std::uint32_t sequence = 0;
  for (int round = 0; round < 3; ++round) {
    fixture.store.begin_arrival(kNew, 123);
    CHECK(fixture.store.word(kNew).role() == Role::arriving);
    CHECK(fixture.store.word(kNew).low() == 123);
    CHECK(fixture.read(kNew).empty());
    CHECK(fixture.store.keys_here() == 2);
    const Slot slot = fixture.store.allocate_slot(kNew);
    std::memcpy(fixture.store.address(slot), kFirst.data(), kBytes);
    fixture.store.publish_owner(kNew, slot);
    CHECK(fixture.read(kNew) == kFirst);
    CHECK(fixture.store.keys_here() == 3);
    CHECK(fixture.store.content_bytes_here() == 3 * kBytes);
    CHECK(fixture.transfer_ownership(kNew, Domain(6)) == kFirst);
    CHECK(fixture.store.word(kNew).hint() == Domain(6));
    CHECK(fixture.store.keys_here() == 2);
    CHECK(fixture.store.content_bytes_here() == 2 * kBytes);
    CHECK(fixture.store.known(kNew)->number == 2U);
    CHECK(fixture.store.word(kNew).sequence() > sequence);
    sequence = fixture.store.word(kNew).sequence();
  }
}

TEST_CASE("A key of a sparse store that passes through keeps a slot word with the hint") {
  Fixture fixture;
  fixture.store.begin_arrival(kNew, 1);
  fixture.store.pass_on(kNew, Domain(2));
  CHECK(fixture.store.word(kNew).hint() == Domain(2));
  CHECK(fixture.store.keys_here() == 2);
}

TEST_CASE("A hint gives a key of a sparse store a slot word, and a number can be had without anything else") {
  Fixture fixture;
  fixture.store.set_hint(kNew, Domain(4));
  CHECK(fixture.store.word(kNew).hint() == Domain(4));
  CHECK(fixture.store.known(kNew)->number == 2U);
  CHECK(fixture.store.make_number(Key(77)) == 3);
  CHECK(fixture.store.make_number(Key(77)) == 3);
  CHECK(fixture.store.word(Key(77)).bits() == 0);
  fixture.store.set_hint(kOwned, Domain(4));
  CHECK(fixture.read(kOwned) == kFirst);
  CHECK(fixture.store.keys_here() == 2);
}

TEST_CASE("Only owned keys of a sparse store count as local") {
  Fixture fixture;
  fixture.store.set_hint(Key(5), Domain(1));
  fixture.store.begin_arrival(kNew, 0);
  std::vector<Key> here;
  fixture.store.for_each_here([&](Key key) { here.push_back(key); });
  CHECK(here == std::vector<Key>{kOwned, kOther});
}

TEST_CASE("Transitions that the roles do not allow throw, with and without a slot word") {
  Fixture fixture;
  Store& store = fixture.store;
  std::vector<std::byte> value(kBytes);
  const auto refused = [&](Key key, auto&& step) {
    const auto before = store.word(key);
    CHECK_THROWS_AS(step(), ProtocolError);
    CHECK(store.word(key) == before);
  };
  refused(kOwned, [&] { store.create(kOwned, [](std::byte*) {}); });
  refused(kOwned, [&] { store.begin_arrival(kOwned, 1); });
  refused(kNew, [&] { store.publish_owner(kNew, Slot{}); });
  refused(kNew, [&] { store.pass_on(kNew, Domain(0)); });
  refused(Key(99), [&] { store.transfer_ownership(Key(99), value.data(), Domain(0)); });
  refused(Key(99), [&] { store.transfer_leased_ownership(Key(99), value.data(), Domain(0)); });
  refused(Key(99), [&] { store.release_lease(Key(99)); });
  refused(Key(99), [&] { store.set_lease(Key(99), lapse::LeaseState::held); });
  CHECK(store.keys_here() == 2);
}

TEST_CASE("A value that cannot be written leaves the key without a slot word and its slot free") {
  Fixture fixture;
  CHECK_THROWS_AS(fixture.store.create(kNew, [](std::byte*) { throw std::runtime_error("test"); }),
                  std::runtime_error);
  CHECK_FALSE(fixture.store.known(kNew).has_value());
  CHECK(fixture.store.keys_here() == 2);
  // The slot that was released last is allocated next.
  const Slot slot = fixture.store.allocate_slot(kNew);
  fixture.store.release_slot(kNew, slot);
  fixture.create(kNew, kFirst);
  CHECK(fixture.store.word(kNew).slot() == slot);
}

TEST_CASE("A sparse store that is full refuses new keys and serves those it has") {
  LimitedRegionAllocator regions;
  Store store = sparse_store(regions, 2);
  const auto nothing = [](std::byte* value) { std::memset(value, 0, kBytes); };
  store.create(kOwned, nothing);
  store.set_hint(kOther, Domain(1));
  CHECK_THROWS_AS(store.create(kNew, nothing), OutOfMemory);
  CHECK_THROWS_AS(store.begin_arrival(kNew, 0), OutOfMemory);
  CHECK_THROWS_AS(store.make_number(kNew), OutOfMemory);
  CHECK(store.keys_here() == 1);
  CHECK(store.update(kOwned, [](std::byte*) {}));
  // Every key that may arrive has a slot, including the key that could not be created.
  store.begin_arrival(kOther, 0);
  store.publish_owner(kOther, store.allocate_slot(kOther));
  CHECK(store.keys_here() == 2);
}

TEST_CASE("A hint that there is no memory for is not kept") {
  LimitedRegionAllocator regions;
  Store store = sparse_store(regions, 1);
  store.set_hint(kOwned, Domain(1));
  store.set_hint(kOther, Domain(1));
  CHECK_FALSE(store.known(kOther).has_value());
  store.set_hint(kOwned, Domain(2));
  CHECK(store.word(kOwned).hint() == Domain(2));
}

TEST_CASE("A memory limit ends the growth of a sparse store with an error and nothing lost") {
  LimitedRegionAllocator regions;
  lapse::MemoryBudget budget(regions, "table 'x'", std::size_t{1} << 20);
  Store store(budget, KeyWords::sparse(budget, 1'000'000),
              ValueSizes(ValueLayout{ElementType::int32, kLength}), 1'000'000, 0);
  std::uint64_t created = 0;
  const auto fill = [&] {
    for (;; ++created) {
      store.create(Key(created), [&](std::byte* value) { std::memcpy(value, &created, sizeof created); });
    }
  };
  CHECK_THROWS_AS(fill(), OutOfMemory);
  CHECK(created > 10'000);
  CHECK(store.keys_here() == created);
  CHECK(store.word_bytes() + store.slab_bytes() <= std::size_t{1} << 20);
  std::uint64_t value[3];
  for (std::uint64_t key = 0; key < created; ++key) {
    REQUIRE(store.read(Key(key), reinterpret_cast<std::byte*>(value)));
    REQUIRE(value[0] == key);
  }
}

TEST_CASE("A key that is refused is absent again, without a hint, and its room is free") {
  Fixture fixture;
  const Slot refused = fixture.store.prepare_arrival(kNew);
  fixture.store.begin_arrival(kNew, 17);
  CHECK(fixture.store.word(kNew).role() == Role::arriving);
  fixture.store.refuse(kNew);
  fixture.store.cancel_arrival(kNew, refused);
  CHECK(fixture.store.word(kNew).role() == Role::absent);
  CHECK_FALSE(fixture.store.word(kNew).hint().has_value());
  CHECK(fixture.store.keys_here() == 2);
  CHECK_THROWS_AS(fixture.store.refuse(kNew), ProtocolError);
  CHECK_THROWS_AS(fixture.store.refuse(kOwned), ProtocolError);
  // It may arrive later.
  const Slot prepared = fixture.store.prepare_arrival(kNew);
  fixture.store.begin_arrival(kNew, 18);
  const Slot slot = fixture.store.arrival_slot(kNew, prepared);
  std::memcpy(fixture.store.address(slot), kFirst.data(), kBytes);
  fixture.store.publish_owner(kNew, slot);
  CHECK(fixture.read(kNew) == kFirst);
}

TEST_CASE("Preparing an arrival without memory changes nothing") {
  LimitedRegionAllocator regions;
  Store store = sparse_store(regions, 2);
  const Slot first = store.prepare_arrival(Key(1));
  const Slot second = store.prepare_arrival(Key(2));
  // Neither a slot word for a third key, nor a slot.
  CHECK_THROWS_AS(store.prepare_arrival(Key(3)), OutOfMemory);
  CHECK_FALSE(store.known(Key(3)).has_value());
  store.cancel_arrival(Key(2), second);
  // A slot, but still no slot word.
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(store.prepare_arrival(Key(3)), OutOfMemory);
  const Slot again = store.prepare_arrival(Key(2));
  CHECK(store.arrival_slot(Key(1), first) != store.arrival_slot(Key(2), again));
}
