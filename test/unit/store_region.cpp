#include "lapse/store/memory/region.hpp"

#include <unistd.h>

#include <limits>

#include "lapse/store/memory/available_memory.hpp"
#include "test/support/catch.hpp"

using lapse::PrivateRegionAllocator;

TEST_CASE("A region is committed piece by piece and starts with zeroes") {
  PrivateRegionAllocator allocator;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto region = allocator.reserve(16 * page);
  REQUIRE(region);
  REQUIRE(region->capacity_bytes() >= 16 * page);
  REQUIRE(region->commit(0, page));
  REQUIRE(region->commit(8 * page, 2 * page));
  const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
  CHECK(std::all_of(region->base(), region->base() + page, zero));
  CHECK(std::all_of(region->base() + 8 * page, region->base() + 10 * page, zero));
  std::fill_n(region->base() + 8 * page, 2 * page, std::byte{7});
  // Committing again has no effect.
  REQUIRE(region->commit(8 * page, 2 * page));
  CHECK(region->base()[9 * page] == std::byte{7});
}

TEST_CASE("A piece may end at the capacity") {
  PrivateRegionAllocator allocator;
  const auto region = allocator.reserve(5000);
  REQUIRE(region);
  CHECK(region->commit(4096, 1 << 20));
  region->base()[region->capacity_bytes() - 1] = std::byte{1};
}

TEST_CASE("A region of no bytes can be reserved") {
  PrivateRegionAllocator allocator;
  const auto region = allocator.reserve(0);
  REQUIRE(region);
  CHECK(region->capacity_bytes() > 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("Addresses cost no memory, and too many of them give no region") {
  PrivateRegionAllocator allocator;
  CHECK(allocator.reserve(std::size_t{1} << 40) != nullptr);
  CHECK(allocator.reserve(std::size_t{1} << 60) == nullptr);
}
#endif

TEST_CASE("The available memory is neither nothing nor unlimited") {
  const std::size_t bytes = lapse::available_memory_bytes();
  CHECK(bytes > (std::size_t{1} << 20));
  CHECK(bytes < (std::size_t{1} << 50));
}
