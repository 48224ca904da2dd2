// What a worker keeps of its reads.
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "lapse/consistency/read_cache.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

void insert(ReadCache& cache, std::uint64_t key, Level stamp, std::int32_t value) {
  cache.insert(Key(key), stamp, std::as_bytes(std::span(&value, 1)));
}

std::int32_t value_of(const std::byte* bytes) {
  std::int32_t value = 0;
  REQUIRE(bytes != nullptr);
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("read cache: a value is of use while its stamp is new enough") {
  ReadCache cache;
  insert(cache, 1, 3, 10);
  CHECK(value_of(cache.find(Key(1), 3)) == 10);
  CHECK(cache.find(Key(1), 4) == nullptr);
  CHECK(cache.find(Key(2), 0) == nullptr);
  insert(cache, 1, 4, 11);
  CHECK(value_of(cache.find(Key(1), 4)) == 11);
  cache.change(Key(1), [](std::byte* bytes) {
    const std::int32_t changed = value_of(bytes) + 5;
    std::memcpy(bytes, &changed, sizeof changed);
  });
  CHECK(value_of(cache.find(Key(1), 4)) == 16);
  cache.erase(Key(1));
  CHECK(cache.find(Key(1), 0) == nullptr);
}

TEST_CASE("read cache: outdated values do not pile up") {
  ReadCache cache;
  for (Level clock = 0; clock < 100; ++clock) {
    cache.drop_older(clock);
    for (std::uint64_t key = 0; key < 100; ++key)
      insert(cache, static_cast<std::uint64_t>(clock) * 100 + key, clock, 1);
  }
  CHECK(cache.size() <= 700);
  CHECK(cache.find(Key(9999), 99) != nullptr);
}
