#include <cstring>
#include <stdexcept>
#include <vector>

#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::Domain;
using lapse::ElementType;
using lapse::Key;
using lapse::KeyWords;
using lapse::Slot;
using lapse::Store;
using lapse::ValueLayout;
using lapse::ValueSizes;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::uint64_t kKeys = 40;
// The state of each value has one element more than the value.
constexpr ValueLayout kLayout{ElementType::int32, 0, {.per_element = 1, .per_value = 1}};
using Elements = std::vector<std::int32_t>;

std::size_t length_of(Key key) {
  return key.index() % 13 + 1;
}
// Number of elements of value and state.
std::size_t elements_of(Key key) {
  return 2 * length_of(key) + 1;
}
Elements content_of(Key key, std::int32_t generation) {
  Elements content(elements_of(key));
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = 10'000 * generation + 100 * static_cast<std::int32_t>(key.value()) + static_cast<int>(i);
  }
  return content;
}

Store store_of(LimitedRegionAllocator& regions, bool sparse) {
  if (sparse) {
    return {regions, KeyWords::sparse(regions, kKeys), ValueSizes::computed(kLayout, length_of), 10'000, 0};
  }
  return {regions, KeyWords::dense(regions, kKeys), ValueSizes::listed(kLayout, kKeys, length_of), 10'000,
          100};
}

void create_all(Store& store) {
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    const Elements content = content_of(Key(key), 0);
    store.create(Key(key), [&](std::byte* to) { std::memcpy(to, content.data(), content.size() * 4); });
  }
}

// The value and optimizer state of an owned key, as an update sees them.
Elements content_here(Store& store, Key key) {
  Elements content(elements_of(key));
  REQUIRE(store.update(key, [&](std::byte* from) { std::memcpy(content.data(), from, content.size() * 4); }));
  return content;
}

}  // namespace

TEST_CASE("Reading a key copies its own length and nothing behind it") {
  for (const bool sparse : {false, true}) {
    LimitedRegionAllocator regions;
    Store store = store_of(regions, sparse);
    create_all(store);
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const Key key(i);
      Elements value(20, -1);
      REQUIRE(store.read(key, reinterpret_cast<std::byte*>(value.data())));
      const Elements content = content_of(key, 0);
      REQUIRE(std::equal(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(length_of(key)),
                         content.begin()));
      REQUIRE(value[length_of(key)] == -1);
      store.prefetch_value(key);
      bytes += elements_of(key) * 4;
    }
    CHECK(store.keys_here() == kKeys);
    CHECK(store.content_bytes_here() == bytes);
  }
}

TEST_CASE("Value and state move whole, whatever their length, and disturb no neighbour") {
  for (const bool sparse : {false, true}) {
    LimitedRegionAllocator regions;
    Store store = store_of(regions, sparse);
    create_all(store);
    const std::uint64_t bytes_here = store.content_bytes_here();
    const std::size_t slab_bytes = store.slab_bytes();
    std::vector<std::int32_t> generation(kKeys, 0);
    for (std::uint64_t step = 0; step < 500; ++step) {
      // Keys of one length leave and return in the same order, so that they change slots.
      const std::vector<Key> keys{Key(step % 13), Key(step % 13 + 13), Key(step % 13 + 26)};
      for (const Key key : keys) {
        Elements gone(elements_of(key) + 1, -1);
        REQUIRE(store.transfer_ownership(key, reinterpret_cast<std::byte*>(gone.data()), Domain(1)));
        REQUIRE(gone.back() == -1);
        gone.pop_back();
        REQUIRE(gone == content_of(key, generation[key.index()]));
      }
      REQUIRE(store.content_bytes_here() == bytes_here - 3 * elements_of(keys[0]) * 4);
      for (const Key key : keys) {
        const Elements next = content_of(key, ++generation[key.index()]);
        store.begin_arrival(key, 0);
        const Slot slot = store.allocate_slot(key);
        std::memcpy(store.address(slot), next.data(), next.size() * 4);
        store.publish_owner(key, slot);
      }
      REQUIRE(store.content_bytes_here() == bytes_here);
    }
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      REQUIRE(content_here(store, Key(key)) == content_of(Key(key), generation[key]));
    }
    CHECK(store.keys_here() == kKeys);
    CHECK(store.slab_bytes() == slab_bytes);
  }
}

TEST_CASE("A function of lengths that throws leaves no key latched") {
  LimitedRegionAllocator regions;
  bool fails = false;
  Store store(regions, KeyWords::sparse(regions, kKeys),
              ValueSizes::computed(kLayout,
                                   [&](Key key) {
                                     if (fails) throw std::runtime_error("test");
                                     return length_of(key);
                                   }),
              10'000, 0);
  create_all(store);
  Elements content(elements_of(Key(5)));
  auto* to = reinterpret_cast<std::byte*>(content.data());
  fails = true;
  CHECK_THROWS_AS(store.read(Key(5), to), std::runtime_error);
  CHECK_THROWS_AS(store.transfer_ownership(Key(5), to, Domain(1)), std::runtime_error);
  fails = false;
  CHECK_FALSE(store.word(Key(5)).latched());
  REQUIRE(store.transfer_ownership(Key(5), to, Domain(1)));
  CHECK(content == content_of(Key(5), 0));
}

TEST_CASE("Lengths count as memory beside the values") {
  LimitedRegionAllocator regions;
  const Store listed = store_of(regions, false);
  CHECK(listed.word_bytes() >= kKeys * (sizeof(std::uint64_t) + sizeof(std::uint32_t)));
}
