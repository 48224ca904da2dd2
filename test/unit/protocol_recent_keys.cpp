#include "lapse/protocol/worker/recent_keys.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using lapse::RandomEngine;
using lapse::RecentKeys;

namespace {

struct Expected {
  std::uint32_t operation;
  std::int32_t value;
};

}  // namespace

TEST_CASE("A slot is found while its operation is not older than the oldest, or while its value stays") {
  RecentKeys keys;
  RandomEngine random(5);
  std::map<std::uint64_t, Expected> expected;
  // Also across the end of the numbers.
  std::uint32_t oldest = 0xffff'ff00U;
  std::uint32_t operation = oldest;
  for (int step = 0; step < 20'000; ++step) {
    // Keys of which many share a line, and key 0, which is that of a slot that was never used.
    const std::uint64_t range = step % 4000 < 2000 ? 40 : 3000;
    const std::size_t count = 1 + random.below(30);
    keys.reserve(count, oldest);
    ++operation;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t key = random.below(range);
      RecentKeys::Slot& slot = keys.take(key, oldest);
      const auto found = expected.find(key);
      REQUIRE(RecentKeys::is_live(slot, oldest) == (found != expected.end()));
      REQUIRE(slot.key == key);
      if (found != expected.end()) REQUIRE(slot.value == found->second.value);
      slot.operation = operation;
      slot.value = random.below(50) == 0 ? RecentKeys::kStays - static_cast<std::int32_t>(random.below(9))
                                         : static_cast<std::int32_t>(random.below(100)) - 1;
      expected[key] = {operation, slot.value};
    }
    // Windows of few operations and of many.
    const std::uint32_t window = step % 1000 < 500 ? 3 : 60;
    while (operation - oldest > window) ++oldest;
    std::erase_if(expected, [&](const auto& entry) {
      const Expected& slot = entry.second;
      return static_cast<std::int32_t>(slot.operation - oldest) < 0 && slot.value > RecentKeys::kStays;
    });
    const std::uint64_t probe = random.below(range);
    const RecentKeys::Slot* const slot = keys.find(probe, oldest);
    REQUIRE((slot != nullptr) == (expected.count(probe) != 0));
    if (slot == nullptr) continue;
    REQUIRE(slot->operation == expected[probe].operation);
    if (slot->value <= RecentKeys::kStays && random.below(4) == 0) {
      RecentKeys::Slot& stays = keys.take(probe, oldest);
      stays.operation = oldest - 1;
      stays.value = -1;
      expected.erase(probe);
    }
  }
}

TEST_CASE("Many keys of one operation are found, and leave no large table behind") {
  constexpr std::uint64_t kKeys = 300'000;
  RecentKeys keys;
  keys.reserve(kKeys, 1);
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    RecentKeys::Slot& slot = keys.take(lapse::mix_bits(key), 1);
    slot.operation = 1;
    slot.value = 7;
  }
  for (std::uint64_t key = 0; key < 2 * kKeys; ++key)
    REQUIRE((keys.find(lapse::mix_bits(key), 1) != nullptr) == (key < kKeys));
  keys.relax();
  CHECK(keys.slots() > kKeys);
  keys.relax();
  CHECK(keys.slots() == 0);
  CHECK(keys.find(7, 2) == nullptr);
}

TEST_CASE("Dead slots stay dead when the numbers of operations wrap, and take no space") {
  RecentKeys keys;
  std::uint32_t oldest = 1;
  for (std::uint64_t round = 0; round < 200; ++round) {
    keys.reserve(100, oldest);
    for (std::uint64_t key = 0; key < 100; ++key) {
      RecentKeys::Slot& slot = keys.take(round * 1000 + key, oldest);
      REQUIRE_FALSE(RecentKeys::is_live(slot, oldest));
      slot.operation = oldest;
      slot.value = 1;
    }
    for (const std::uint64_t before : {1, 5})
      for (std::uint64_t key = 0; round >= before && key < 100; ++key)
        REQUIRE(keys.find((round - before) * 1000 + key, oldest) == nullptr);
    oldest += std::uint32_t{1} << 29;
  }
  CHECK(keys.slots() <= 1024);
}
