#include "lapse/store/memory/slab.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::OutOfMemory;
using lapse::SlabAllocator;
using lapse::test::LimitedRegionAllocator;

TEST_CASE("Slots are distinct, aligned to 16 bytes, and keep their address and contents while others come") {
  for (const std::size_t slot_bytes : {std::size_t{16}, std::size_t{112}, std::size_t{40960}}) {
    LimitedRegionAllocator regions;
    const std::uint64_t slots = slot_bytes > 1000 ? 300 : 20'000;
    SlabAllocator slab(regions, slot_bytes, slots);
    CHECK(slab.committed_bytes() == 0);
    std::vector<std::uint32_t> given;
    std::vector<std::byte*> addresses;
    for (std::uint64_t i = 0; i < slots; ++i) {
      given.push_back(slab.allocate());
      addresses.push_back(slab.address(given.back()));
      REQUIRE(reinterpret_cast<std::uintptr_t>(addresses.back()) % 16 == 0);
      std::memset(addresses.back(), static_cast<int>(i % 251), slot_bytes);
    }
    CHECK(slab.units_in_use() == slots);
    CHECK(std::set<std::uint32_t>(given.begin(), given.end()).size() == slots);
    for (std::uint64_t i = 0; i < slots; ++i) {
      REQUIRE(slab.address(given[i]) == addresses[i]);
      REQUIRE(addresses[i][0] == static_cast<std::byte>(i % 251));
      REQUIRE(addresses[i][slot_bytes - 1] == static_cast<std::byte>(i % 251));
    }
    CHECK(slab.committed_bytes() >= slots * slot_bytes);
    CHECK(slab.committed_bytes() == regions.committed_bytes());
    CHECK_THROWS_AS(slab.allocate(), OutOfMemory);
  }
}

TEST_CASE("Memory is committed slab by slab, when it is needed") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, 64, 100'000);
  CHECK(slab.committed_bytes() == 0);
  slab.allocate();
  const std::size_t first = slab.committed_bytes();
  CHECK(first > 0);
  CHECK(first < 100'000 * 64);
  while (slab.units_in_use() * 64 < first) slab.allocate();
  CHECK(slab.committed_bytes() == first);
  slab.allocate();
  CHECK(slab.committed_bytes() > first);
}

TEST_CASE("Small tables waste little memory") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, 16, 10);
  for (int i = 0; i < 10; ++i) slab.allocate();
  CHECK(slab.committed_bytes() <= 64 * 1024);
}

TEST_CASE("A table that may become large begins small and then grows in large steps") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, 16, 10'000'000);
  slab.allocate();
  CHECK(slab.committed_bytes() <= 64 * 1024);
  std::size_t largest = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const std::size_t before = slab.committed_bytes();
    slab.allocate();
    largest = std::max(largest, slab.committed_bytes() - before);
  }
  CHECK(largest == 2 << 20);
  CHECK(slab.committed_bytes() <= 2'000'000 * 16 / 8 * 9);
}

TEST_CASE("Released slots are used again, the last first, before fresh ones") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, 32, 1000);
  std::vector<std::uint32_t> given;
  for (int i = 0; i < 500; ++i) given.push_back(slab.allocate());
  const std::size_t committed = slab.committed_bytes();
  slab.release(given[3]);
  slab.release(given[499]);
  slab.release(given[0]);
  CHECK(slab.units_in_use() == 497);
  CHECK(slab.allocate() == given[0]);
  CHECK(slab.allocate() == given[499]);
  CHECK(slab.allocate() == given[3]);
  const std::uint32_t fresh = slab.allocate();
  CHECK(std::find(given.begin(), given.end(), fresh) == given.end());
  CHECK(slab.units_in_use() == 501);
  CHECK(slab.committed_bytes() == committed);
}

TEST_CASE("A full allocator works again after a release") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, 16, 2);
  slab.allocate();
  const std::uint32_t last = slab.allocate();
  CHECK_THROWS_AS(slab.allocate(), OutOfMemory);
  slab.release(last);
  CHECK(slab.allocate() == last);
}

TEST_CASE("commit_for commits what the next allocations need, and no more than the table") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, 16, 50'000);
  slab.commit_for(30'000);
  const std::size_t committed = slab.committed_bytes();
  CHECK(committed >= 30'000 * 16);
  for (int i = 0; i < 30'000; ++i) slab.allocate();
  CHECK(slab.committed_bytes() == committed);
  slab.commit_for(1'000'000);
  CHECK(slab.committed_bytes() < 50'000 * 16 + (64 << 10));
}

TEST_CASE("Memory that is not there is OutOfMemory, and what exists stays usable") {
  LimitedRegionAllocator regions(100 * 1024);
  SlabAllocator slab(regions, 16, 100'000);
  const std::uint32_t first = slab.allocate();
  const auto fill = [&] {
    for (;;) slab.allocate();
  };
  CHECK_THROWS_AS(fill(), OutOfMemory);
  const std::uint64_t in_use = slab.units_in_use();
  CHECK(in_use == 64 * 1024 / 16);
  CHECK_THROWS_AS(slab.commit_for(10'000), OutOfMemory);
  slab.release(first);
  CHECK(slab.allocate() == first);
  regions.set_commit_limit(200 * 1024);
  slab.allocate();
  CHECK(slab.units_in_use() == in_use + 1);
}

TEST_CASE("A promised slot can be taken, whatever is allocated meanwhile") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, 16, 4);
  const std::uint32_t first = slab.allocate();
  slab.promise();
  slab.promise();
  const std::uint32_t second = slab.allocate();
  CHECK_THROWS_AS(slab.allocate(), OutOfMemory);
  CHECK_THROWS_AS(slab.promise(), OutOfMemory);
  CHECK_FALSE(slab.try_promise());
  // A released slot can be allocated again, and is the first to be.
  slab.release(first);
  CHECK(slab.try_promise());
  CHECK_FALSE(slab.try_allocate());
  CHECK(slab.take_promised() == first);
  const std::uint32_t third = slab.take_promised();
  CHECK(third != second);
  slab.withdraw_promise();
  CHECK(slab.try_allocate());
  CHECK(slab.units_in_use() == 4);
}

TEST_CASE("A promise has its memory before it is given") {
  LimitedRegionAllocator regions(100 * 1024);
  SlabAllocator slab(regions, 16, 100'000);
  std::uint64_t promised = 0;
  while (slab.try_promise()) ++promised;
  CHECK(promised == 64 * 1024 / 16);
  CHECK_THROWS_AS(slab.allocate(), OutOfMemory);
  for (; promised > 0; --promised) slab.take_promised();
  CHECK(slab.units_in_use() * 16 == slab.committed_bytes());
}

TEST_CASE("Addresses that are not there are OutOfMemory") {
  LimitedRegionAllocator regions(~std::size_t{0}, 1000);
  CHECK_THROWS_AS(SlabAllocator(regions, 16, 1000), OutOfMemory);
  CHECK_THROWS_AS(SlabAllocator(regions, std::size_t{1} << 60, ~std::uint64_t{0}), OutOfMemory);
}
