// Slots in memory that a domain shares: each rank allocates from its part.
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/slab.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using namespace lapse;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::size_t kUnitBytes = 64;
constexpr std::uint64_t kUnits = 8192;  // of the whole domain

// Lends its memory to one region per rank, like shared memory does.
class LentRegion final : public Region {
 public:
  explicit LentRegion(Region& region) : region_(region) {}
  std::byte* base() const override { return region_.base(); }
  std::size_t capacity_bytes() const override { return region_.capacity_bytes(); }
  bool commit(std::size_t offset, std::size_t bytes) override { return region_.commit(offset, bytes); }

 private:
  Region& region_;
};

struct SharedSlots {
  explicit SharedSlots(std::size_t commit_limit = ~std::size_t{0})
      : regions(commit_limit), memory(regions.reserve(kUnits * kUnitBytes)) {}

  SlabAllocator part(std::uint64_t first_unit, std::uint64_t units) {
    return {SlabSpace{.region = std::make_unique<LentRegion>(*memory),
                      .region_unit = 0,
                      .first_unit = first_unit,
                      .max_units = units},
            kUnitBytes, "table 'a'"};
  }

  LimitedRegionAllocator regions;
  std::unique_ptr<Region> memory;
};

}  // namespace

TEST_CASE("Ranks give out disjoint slots of one memory, and each finds the slots of the others") {
  SharedSlots domain;
  SlabAllocator first = domain.part(0, 1024);
  SlabAllocator second = domain.part(1024, 2048);
  std::set<std::uint32_t> given;
  for (std::uint32_t i = 0; i < 1024; ++i) {
    const std::uint32_t a = first.allocate();
    const std::uint32_t b = second.allocate();
    CHECK(given.insert(a).second);
    CHECK(given.insert(b).second);
    REQUIRE(a < 1024);
    REQUIRE(b >= 1024);
    REQUIRE(b < 3072);
    REQUIRE(first.address(b) == second.address(b));
    REQUIRE(first.address(a) == second.address(a));
    REQUIRE(first.address(a) == domain.memory->base() + a * kUnitBytes);
    CHECK(first.is_own(a));
    CHECK_FALSE(first.is_own(b));
    CHECK(second.is_own(b));
    CHECK_FALSE(second.is_own(a));
    std::memset(first.address(a), 1, kUnitBytes);
    std::memset(second.address(b), 2, kUnitBytes);
  }
  CHECK(first.committed_bytes() == 1024 * kUnitBytes);
  CHECK_THROWS_AS(first.allocate(), OutOfMemory);
  CHECK(second.try_allocate());
}

TEST_CASE("The numbers of units need not begin at the beginning of the memory") {
  // Private slots: this rank's memory holds the domain's units from 5000 on.
  LimitedRegionAllocator regions;
  auto memory = regions.reserve(256 * kUnitBytes);
  std::byte* const base = memory->base();
  SlabAllocator slots(
      SlabSpace{.region = std::move(memory), .region_unit = 5000, .first_unit = 5000, .max_units = 256},
      kUnitBytes, "table 'a'");
  const std::uint32_t slot = slots.allocate(3);
  CHECK(slot == 5000);
  CHECK(slots.address(slot) == base);
  CHECK(slots.allocate() == 5003);
  CHECK(slots.address(5003) == base + 3 * kUnitBytes);
  CHECK(slots.is_own(5000));
  CHECK(slots.is_own(5255));
  CHECK_FALSE(slots.is_own(5256));
  CHECK_FALSE(slots.is_own(4999));
  CHECK_FALSE(slots.is_own(0));
}

TEST_CASE("A part in the middle commits its own pages and no others") {
  SharedSlots domain;
  SlabAllocator part = domain.part(2048, 1024);
  part.try_commit_for(100'000);
  CHECK(domain.regions.committed_bytes() == 1024 * kUnitBytes);
  const std::uint32_t slot = part.allocate();
  CHECK(part.address(slot) == domain.memory->base() + 2048 * kUnitBytes);
  std::memset(part.address(slot), 1, kUnitBytes);
}

TEST_CASE("try_allocate gives nothing when slots or memory are at an end, but what comes back") {
  SharedSlots domain(64 << 10);  // one slab
  SlabAllocator part = domain.part(256, 4096);
  std::vector<std::uint32_t> given;
  while (const auto slot = part.try_allocate()) given.push_back(*slot);
  CHECK(given.size() == (64 << 10) / kUnitBytes);
  CHECK(part.units_in_use() == given.size());
  CHECK_FALSE(part.try_allocate());
  part.release(given[5]);
  CHECK(part.try_allocate() == given[5]);
  CHECK_FALSE(part.try_allocate());
  CHECK_FALSE(part.try_allocate(2));

  // Memory that other ranks release is found after some time, and then all of it is used.
  domain.regions.set_commit_limit(~std::size_t{0});
  std::uint64_t refused = 0;
  while (!part.try_allocate()) REQUIRE(++refused < SlabAllocator::kRefusalsPerTry);
  CHECK(refused > SlabAllocator::kRefusalsPerTry / 2);
  std::size_t more = 1;
  while (part.try_allocate()) ++more;
  CHECK(given.size() + more == 4096);

  SlabAllocator none = domain.part(4352, 0);
  CHECK_FALSE(none.try_allocate());
  CHECK_FALSE(none.is_own(4352));
  none.try_commit_for(10);
  CHECK(none.committed_bytes() == 0);
}

TEST_CASE("What cannot be committed beforehand is no error for a part of shared memory") {
  SharedSlots domain(64 << 10);
  SlabAllocator part = domain.part(0, 4096);
  part.try_commit_for(4096);
  CHECK(part.committed_bytes() == 64 << 10);
  // The allocator has learned that there is no more memory, but the committed memory is used up.
  std::size_t slots = 0;
  while (part.try_allocate()) ++slots;
  CHECK(slots * kUnitBytes == 64 << 10);
}
