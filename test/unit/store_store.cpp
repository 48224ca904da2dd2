#include "lapse/store/store.hpp"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "lapse/core/error.hpp"
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
constexpr ValueLayout kLayout{ElementType::int32, kLength};
using Value = std::vector<std::int32_t>;

Store dense_store(LimitedRegionAllocator& regions, std::uint64_t keys, std::uint64_t expected = 0) {
  return {regions, KeyWords::dense(regions, keys), ValueSizes(kLayout), keys, expected};
}

// A store of 10 keys in which keys 2 and 3 are owned.
struct Fixture {
  LimitedRegionAllocator regions;
  Store store = dense_store(regions, 10, 2);

  Fixture() {
    create(Key(2), {1, 2, 3, 4, 5});
    create(Key(3), {9, 9, 9, 9, 9});
  }

  void create(Key key, const Value& value) {
    store.create(key, [&](std::byte* to) { std::memcpy(to, value.data(), kLength * 4); });
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
  void arrive(Key key, const Value& value) {
    const Slot slot = store.allocate_slot(key);
    std::memcpy(store.address(slot), value.data(), kLength * 4);
    store.publish_owner(key, slot);
  }
};

}  // namespace

TEST_CASE("A new store has every key absent") {
  LimitedRegionAllocator regions;
  const Store store = dense_store(regions, 1000);
  CHECK(store.keys() == 1000);
  CHECK(store.last_key() == Key(999).value());
  CHECK_FALSE(store.is_sparse());
  CHECK(store.has(Key(999)));
  CHECK_FALSE(store.has(Key(1000)));
  CHECK(store.sizes().value_bytes(Key(7)) == 20);
  CHECK(store.keys_here() == 0);
  std::vector<std::byte> value(20);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    REQUIRE(store.word(Key(key)).bits() == 0);
    REQUIRE_FALSE(store.read(Key(key), value.data()));
  }
}

TEST_CASE("A created key can be read and updated in place") {
  Fixture fixture;
  CHECK(fixture.read(Key(2)) == Value{1, 2, 3, 4, 5});
  CHECK(fixture.read(Key(3)) == Value{9, 9, 9, 9, 9});
  CHECK(fixture.read(Key(4)).empty());
  const std::uint32_t before = fixture.store.word(Key(2)).sequence();
  CHECK(fixture.store.update(Key(2), [](std::byte* value) { value[0] = std::byte{7}; }));
  CHECK(fixture.read(Key(2)) == Value{7, 2, 3, 4, 5});
  CHECK(fixture.store.word(Key(2)).sequence() == before + 1);
  CHECK_FALSE(fixture.store.word(Key(2)).latched());
  bool called = false;
  CHECK_FALSE(fixture.store.update(Key(4), [&](std::byte*) { called = true; }));
  CHECK_FALSE(called);
}

TEST_CASE("An update runs under the latch, and an exception releases it") {
  Fixture fixture;
  CHECK_THROWS_AS(fixture.store.update(Key(2),
                                       [&](std::byte* value) {
                                         CHECK(fixture.store.word(Key(2)).latched());
                                         value[0] = std::byte{42};
                                         throw std::runtime_error("test");
                                       }),
                  std::runtime_error);
  CHECK_FALSE(fixture.store.word(Key(2)).latched());
  CHECK(fixture.read(Key(2)) == Value{42, 2, 3, 4, 5});
}

TEST_CASE("Reading does not change a slot word") {
  Fixture fixture;
  const auto before = fixture.store.word(Key(2));
  fixture.read(Key(2));
  CHECK(fixture.store.word(Key(2)) == before);
}

TEST_CASE(
    "A key is absent after its ownership is transferred, with the new owner as hint, and frees its slot") {
  Fixture fixture;
  CHECK(fixture.store.keys_here() == 2);
  const std::uint32_t slot = fixture.store.word(Key(2)).slot().number;
  CHECK(fixture.transfer_ownership(Key(2), Domain(6)) == Value{1, 2, 3, 4, 5});
  CHECK(fixture.store.keys_here() == 1);
  // The slot that was released last is allocated first.
  CHECK(fixture.store.allocate_slot(Key(4)).number == slot);
  const auto word = fixture.store.word(Key(2));
  CHECK(word.role() == Role::absent);
  CHECK(word.hint() == Domain(6));
  CHECK_FALSE(word.latched());
  CHECK(fixture.read(Key(2)).empty());
  CHECK_FALSE(fixture.store.update(Key(2), [](std::byte*) {}));
}

TEST_CASE("A key arrives in three steps and is not readable before the last") {
  Fixture fixture;
  fixture.store.begin_arrival(Key(7), 123);
  CHECK(fixture.store.word(Key(7)).role() == Role::arriving);
  CHECK(fixture.store.word(Key(7)).low() == 123);
  CHECK(fixture.read(Key(7)).empty());
  CHECK_FALSE(fixture.store.update(Key(7), [](std::byte*) {}));
  fixture.arrive(Key(7), {5, 4, 3, 2, 1});
  CHECK(fixture.read(Key(7)) == Value{5, 4, 3, 2, 1});
  CHECK(fixture.store.keys_here() == 3);
}

TEST_CASE("A key that is only passing through is never owned") {
  Fixture fixture;
  fixture.store.begin_arrival(Key(7), 1);
  fixture.store.pass_on(Key(7), Domain(2));
  CHECK(fixture.store.word(Key(7)).role() == Role::absent);
  CHECK(fixture.store.word(Key(7)).hint() == Domain(2));
}

TEST_CASE("The sequence of a slot word rises through every change of role") {
  Fixture fixture;
  std::uint32_t last = fixture.store.word(Key(2)).sequence();
  const auto rises = [&] {
    const std::uint32_t now = fixture.store.word(Key(2)).sequence();
    const bool higher = now > last;
    last = now;
    return higher;
  };
  fixture.transfer_ownership(Key(2), Domain(1));
  CHECK(rises());
  fixture.store.begin_arrival(Key(2), 0);
  CHECK(rises());
  fixture.store.pass_on(Key(2), Domain(3));
  CHECK(rises());
  fixture.store.begin_arrival(Key(2), 0);
  CHECK(rises());
  fixture.arrive(Key(2), Value(kLength, 1));
  CHECK(rises());
}

TEST_CASE("Transitions that the roles do not allow throw and change nothing") {
  Fixture fixture;
  Store& store = fixture.store;
  store.begin_arrival(Key(7), 0);
  const Key owned(2);
  const Key absent(4);
  const Key arriving(7);
  std::vector<std::byte> value(20);

  const auto refused = [&](Key key, auto&& step) {
    const auto before = store.word(key);
    CHECK_THROWS_AS(step(), ProtocolError);
    CHECK(store.word(key) == before);
  };
  refused(owned, [&] { store.create(owned, [](std::byte*) {}); });
  refused(arriving, [&] { store.create(arriving, [](std::byte*) {}); });
  refused(owned, [&] { store.begin_arrival(owned, 1); });
  refused(arriving, [&] { store.begin_arrival(arriving, 1); });
  refused(owned, [&] { store.publish_owner(owned, Slot{}); });
  refused(absent, [&] { store.publish_owner(absent, Slot{}); });
  refused(owned, [&] { store.pass_on(owned, Domain(0)); });
  refused(absent, [&] { store.pass_on(absent, Domain(0)); });
  refused(absent, [&] { store.transfer_ownership(absent, value.data(), Domain(0)); });
  refused(arriving, [&] { store.transfer_ownership(arriving, value.data(), Domain(0)); });
}

TEST_CASE("A hint changes absent slot words only") {
  Fixture fixture;
  fixture.store.set_hint(Key(4), Domain(0));
  CHECK(fixture.store.word(Key(4)).hint() == Domain(0));
  fixture.store.set_hint(Key(4), Domain(9));
  CHECK(fixture.store.word(Key(4)).hint() == Domain(9));
  const auto owned = fixture.store.word(Key(2));
  fixture.store.set_hint(Key(2), Domain(9));
  CHECK(fixture.store.word(Key(2)) == owned);
  fixture.store.begin_arrival(Key(5), 3);
  fixture.store.set_hint(Key(5), Domain(9));
  CHECK(fixture.store.word(Key(5)).low() == 3);
}

TEST_CASE("Prefetching is possible in every role") {
  Fixture fixture;
  fixture.store.begin_arrival(Key(7), 0xffff'ffffU);
  for (std::uint64_t key = 0; key < 10; ++key) {
    fixture.store.prefetch_word(Key(key));
    fixture.store.prefetch_value(Key(key));
  }
  SUCCEED();
}

TEST_CASE("A store reports what memory it uses") {
  Fixture fixture;
  CHECK(fixture.store.word_bytes() >= 10 * sizeof(std::uint64_t));
  CHECK(fixture.store.slab_bytes() >= 10 * kLayout.slot_bytes());
  CHECK(fixture.store.word_bytes() + fixture.store.slab_bytes() == fixture.regions.committed_bytes());
}

TEST_CASE("Slot words, addresses or slabs for which there is no memory are OutOfMemory") {
  LimitedRegionAllocator no_words(1000);
  CHECK_THROWS_AS(dense_store(no_words, 1000, 0), OutOfMemory);
  LimitedRegionAllocator no_slabs(50'000);
  CHECK_THROWS_AS(dense_store(no_slabs, 5000, 5000), OutOfMemory);
  LimitedRegionAllocator no_word_addresses(~std::size_t{0}, 1000);
  CHECK_THROWS_AS(dense_store(no_word_addresses, 1000, 0), OutOfMemory);
  LimitedRegionAllocator no_slab_addresses(~std::size_t{0}, 20'000);
  CHECK_THROWS_AS(dense_store(no_slab_addresses, 1000, 0), OutOfMemory);
}

TEST_CASE("A value that arrives when memory has run out is OutOfMemory; the key keeps arriving") {
  LimitedRegionAllocator regions;
  Store store = dense_store(regions, 100'000);
  regions.set_commit_limit(regions.committed_bytes());
  store.begin_arrival(Key(7), 0);
  CHECK_THROWS_AS(store.allocate_slot(Key(7)), OutOfMemory);
  CHECK(store.word(Key(7)).role() == Role::arriving);
  CHECK(store.keys_here() == 0);
}
