// Accesses to many keys of a store in a row.
#include <cstring>
#include <limits>
#include <vector>

#include "lapse/store/push_run.hpp"
#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using namespace lapse;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::uint64_t kRunKeys = 60;

// Element i of key k is 1000 k + i.
template <class T>
struct Runs {
  LimitedRegionAllocator regions;
  std::size_t length;
  Store store;

  Runs(std::size_t elements, bool sparse)
      : length(elements),
        store(regions, sparse ? KeyWords::sparse(regions, 2 * kRunKeys) : KeyWords::dense(regions, kRunKeys),
              ValueSizes(ValueLayout{element_type<T>(), elements}), kRunKeys, kRunKeys) {
    for (std::uint64_t key = 0; key < kRunKeys; ++key) {
      store.create(Key(key), [&](std::byte* to) {
        for (std::size_t i = 0; i < length; ++i) {
          const T element = expected(key, i);
          std::memcpy(to + i * sizeof(T), &element, sizeof element);
        }
      });
    }
  }
  static T expected(std::uint64_t key, std::size_t i) { return static_cast<T>(1000 * key + i); }
  // A permutation of some keys.
  static std::vector<Key> keys(std::size_t count) {
    std::vector<Key> all;
    for (std::size_t at = 0; at < count; ++at) all.emplace_back(at * 7 % kRunKeys);
    return all;
  }
};

template <class T>
void check_run(std::size_t length, bool sparse, std::size_t count) {
  const std::vector<Key> keys = Runs<T>::keys(count);
  // `stop`: the position of a key that is leased, or has left.
  for (std::size_t stop = 0; stop <= count; ++stop) {
    Runs<T> runs(length, sparse);
    if (stop < count && stop % 2 == 0) {
      REQUIRE(runs.store.grant_lease(keys[stop]));
    } else if (stop < count) {
      std::vector<std::byte> moved(runs.store.sizes().moved_bytes(keys[stop]));
      REQUIRE(runs.store.transfer_ownership(keys[stop], moved.data(), Domain(1)));
    }
    std::vector<T> values((count + 1) * length, T{-1});
    auto* const bytes = reinterpret_cast<std::byte*>(values.data());
    const Store::Run read = stop % 3 == 0 ? runs.store.template read_run<Store::Reach::main>(keys, bytes)
                                          : runs.store.template read_run<Store::Reach::any>(keys, bytes);
    REQUIRE(read.keys == stop);
    REQUIRE(read.copies == 0);
    for (std::size_t at = 0; at < stop; ++at) {
      for (std::size_t i = 0; i < length; ++i)
        REQUIRE(values[at * length + i] == Runs<T>::expected(keys[at].value(), i));
    }
    for (std::size_t i = 0; i < length; ++i) REQUIRE(values[count * length + i] == T{-1});

    std::vector<T> updates;
    for (std::size_t i = 0; i < count * length; ++i) updates.push_back(static_cast<T>(i + 1));
    const UpdateKernel add(UpdateRule::add(), element_type<T>());
    const auto* const from = reinterpret_cast<const std::byte*>(updates.data());
    REQUIRE(push_run(runs.store, add, keys, Store::Reach::main, from, 1.0F).keys == stop);
    std::vector<T> value(length);
    for (std::size_t at = 0; at < count; ++at) {
      if (at == stop) continue;
      REQUIRE(runs.store.read(keys[at], reinterpret_cast<std::byte*>(value.data())));
      for (std::size_t i = 0; i < length; ++i) {
        const T pushed = at < stop ? updates[at * length + i] : T{0};
        REQUIRE(value[i] == Runs<T>::expected(keys[at].value(), i) + pushed);
      }
    }
  }
}

}  // namespace

TEST_CASE("A run of keys is read and updated up to the first that is leased or not local") {
  // Values of one load, of some, of less and more than the processor fetches by itself.
  for (const bool sparse : {false, true}) {
    for (const std::size_t count : {1, 7, 8, 9, 16, 41}) {
      check_run<float>(1, sparse, count);
      check_run<double>(1, sparse, count);
      check_run<std::int32_t>(2, sparse, count);
      check_run<float>(25, sparse, count);
      check_run<std::int64_t>(33, sparse, count);
    }
    check_run<float>(600, sparse, 20);
  }
}

TEST_CASE(
    "Pushes to a run of keys with single elements wrap around, are scaled and keep the bits of the rule") {
  Runs<std::int32_t> integers(1, false);
  const std::vector<Key> keys = Runs<std::int32_t>::keys(10);
  const std::vector<std::int32_t> most(keys.size(), std::numeric_limits<std::int32_t>::max());
  const UpdateKernel add(UpdateRule::add(), ElementType::int32);
  const auto* const from = reinterpret_cast<const std::byte*>(most.data());
  for (int push = 0; push < 2; ++push)
    REQUIRE(push_run(integers.store, add, keys, Store::Reach::main, from, 1.0F).keys == keys.size());
  std::vector<std::int32_t> values(keys.size());
  REQUIRE(
      integers.store.read_run<Store::Reach::any>(keys, reinterpret_cast<std::byte*>(values.data())).keys ==
      keys.size());
  // Twice the largest number is -2.
  for (std::size_t at = 0; at < keys.size(); ++at)
    CHECK(values[at] == static_cast<std::int32_t>(1000 * keys[at].value()) - 2);

  for (const float scale : {1.0F, 0.3F}) {
    Runs<float> pushed(1, false);
    Runs<float> expected(1, false);
    std::vector<float> updates;
    for (std::size_t at = 0; at < keys.size(); ++at) updates.push_back(0.1F * static_cast<float>(at + 1));
    const UpdateKernel rule(UpdateRule::add(), ElementType::float32);
    const auto* const bytes = reinterpret_cast<const std::byte*>(updates.data());
    REQUIRE(push_run(pushed.store, rule, keys, Store::Reach::main, bytes, scale).keys == keys.size());
    for (std::size_t at = 0; at < keys.size(); ++at) {
      REQUIRE(expected.store.update(
          keys[at], [&](std::byte* slot) { rule.apply(slot, bytes + at * sizeof(float), 1, scale); }));
      float one = 0;
      float other = 1;
      REQUIRE(pushed.store.read(keys[at], reinterpret_cast<std::byte*>(&one)));
      REQUIRE(expected.store.read(keys[at], reinterpret_cast<std::byte*>(&other)));
      CHECK(one == other);
    }
  }
}
