#include "lapse/store/memory/growing_region.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <vector>

#include "test/support/catch.hpp"

// ThreadSanitizer refuses mappings in the middle of the address space.
#if !defined(__SANITIZE_THREAD__)

using lapse::GrowingRegionAllocator;
using lapse::Region;

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kCapacity = std::size_t{64} << 30;

std::size_t mapped_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("A growing region takes addresses only for what is committed") {
  GrowingRegionAllocator allocator;
  const std::size_t before = mapped_bytes();
  {
    std::vector<std::unique_ptr<Region>> regions;
    for (int i = 0; i < 20; ++i) {
      regions.push_back(allocator.reserve(kCapacity));
      REQUIRE(regions.back());
      CHECK(regions.back()->capacity_bytes() == kCapacity);
      CHECK(reinterpret_cast<std::uintptr_t>(regions.back()->base()) % lapse::kHugePageBytes == 0);
    }
    CHECK(mapped_bytes() < before + kMegabyte);
    for (std::size_t piece = 0; piece < 5; ++piece) {
      for (auto& region : regions) {
        REQUIRE(region->commit(piece * kMegabyte, kMegabyte));
        for (std::size_t at = 0; at < kMegabyte; at += 4096) {
          REQUIRE(region->base()[piece * kMegabyte + at] == std::byte{0});
          region->base()[piece * kMegabyte + at] = std::byte{1};
        }
      }
    }
    CHECK(mapped_bytes() < before + (5 * 20 + 10) * kMegabyte);
    // Committing again, also over committed pages, loses no data.
    CHECK(regions[0]->commit(0, 6 * kMegabyte));
    CHECK(regions[0]->base()[4 * kMegabyte] == std::byte{1});
  }
  CHECK(mapped_bytes() < before + kMegabyte);
}

TEST_CASE("A growing region commits nothing over another mapping, and goes on when that has gone") {
  GrowingRegionAllocator allocator;
  const auto region = allocator.reserve(kCapacity);
  REQUIRE(region->commit(0, kMegabyte));
  void* const wanted = region->base() + 2 * kMegabyte;
  void* const other = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(other == wanted);
  *static_cast<char*>(other) = 7;
  CHECK(region->commit(kMegabyte, kMegabyte));
  CHECK_FALSE(region->commit(2 * kMegabyte, kMegabyte));
  CHECK(*static_cast<char*>(other) == 7);
  munmap(other, 4096);
  CHECK(region->commit(2 * kMegabyte, kMegabyte));
  CHECK(region->base()[2 * kMegabyte] == std::byte{0});
}

TEST_CASE("A growing region ends at its capacity") {
  GrowingRegionAllocator allocator;
  const auto region = allocator.reserve(3 * kMegabyte);
  CHECK(region->commit(0, 2 * kMegabyte));
  CHECK(region->commit(2 * kMegabyte, 100 * kMegabyte));
  region->base()[3 * kMegabyte - 1] = std::byte{1};
}

TEST_CASE("Large regions find room beside each other, and no region is placed within another") {
  constexpr std::size_t kTerabyte = std::size_t{1} << 40;
  GrowingRegionAllocator allocator;
  const std::size_t before = mapped_bytes();
  std::vector<std::unique_ptr<Region>> regions;
  for (int i = 0; i < 10; ++i) regions.push_back(allocator.reserve(4 * kTerabyte));
  for (int i = 0; i < 40; ++i) regions.push_back(allocator.reserve(kTerabyte));
  for (int i = 0; i < 40; ++i) regions.push_back(allocator.reserve(kMegabyte));
  CHECK(mapped_bytes() < before + kMegabyte);
  std::ranges::sort(regions, {}, [](const auto& region) { return region->base(); });
  for (std::size_t i = 1; i < regions.size(); ++i) {
    CHECK(regions[i - 1]->base() + regions[i - 1]->capacity_bytes() < regions[i]->base());
  }
  // Released addresses can be claimed again.
  std::erase_if(regions, [](const auto& region) { return region->capacity_bytes() >= kTerabyte; });
  for (int i = 0; i < 20; ++i) regions.push_back(allocator.reserve(4 * kTerabyte));
  CHECK(mapped_bytes() < before + kMegabyte);
}

// AddressSanitizer cannot run with limited addresses.
#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("A growing region claims no more addresses than the limit allows, and ends there") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const std::size_t limit = mapped_bytes() + 512 * kMegabyte;
  rlimit lowered = before;
  lowered.rlim_cur = limit;
  REQUIRE(setrlimit(RLIMIT_AS, &lowered) == 0);
  {
    constexpr std::size_t kRegions = 100;
    GrowingRegionAllocator allocator;
    std::vector<std::unique_ptr<Region>> regions;
    for (std::size_t i = 0; i < kRegions; ++i) {
      regions.push_back(allocator.reserve(std::size_t{40} << 40));
      REQUIRE(regions.back());
      CHECK(regions.back()->capacity_bytes() == std::size_t{40} << 40);
    }
    for (auto& region : regions) CHECK(region->commit(0, kMegabyte));
    CHECK_FALSE(regions[0]->commit(kMegabyte, limit));
    CHECK(regions[0]->commit(kMegabyte, kMegabyte));
  }
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
}
#endif

#endif
