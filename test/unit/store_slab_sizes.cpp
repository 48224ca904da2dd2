#include <algorithm>
#include <cstring>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/store/memory/slab.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::OutOfMemory;
using lapse::RandomEngine;
using lapse::SlabAllocator;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::size_t kUnit = 16;

struct Slot {
  std::uint32_t at;
  std::uint32_t units;
  int mark;
};

// The allocator, compared with a plain list of its allocated slots, each marked from end to end.
class Model {
 public:
  explicit Model(SlabAllocator& slab) : slab_(slab) {}

  void allocate(std::uint32_t units) {
    const Slot slot{slab_.allocate(units), units, next_mark_++ % 251};
    std::memset(slab_.address(slot.at), slot.mark, units * kUnit);
    slots_.push_back(slot);
    units_ += units;
  }
  void release(std::size_t which) {
    check(slots_[which]);
    slab_.release(slots_[which].at, slots_[which].units);
    units_ -= slots_[which].units;
    slots_[which] = slots_.back();
    slots_.pop_back();
  }
  void check(const Slot& slot) const {
    const std::byte* from = slab_.address(slot.at);
    REQUIRE(std::all_of(from, from + slot.units * kUnit,
                        [&](std::byte byte) { return byte == static_cast<std::byte>(slot.mark); }));
  }
  void check_all() const {
    for (const Slot& slot : slots_) check(slot);
    REQUIRE(slab_.units_in_use() == units_);
  }
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  SlabAllocator& slab_;
  std::vector<Slot> slots_;
  std::uint64_t units_ = 0;
  int next_mark_ = 0;
};

}  // namespace

TEST_CASE("Slots of several sizes are aligned and do not overlap") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, kUnit, 100'000);
  Model model(slab);
  for (std::uint32_t i = 0; i < 3000; ++i) model.allocate(1 + i * 7 % 30);
  model.check_all();
  for (const Slot& slot : model.slots()) {
    REQUIRE(reinterpret_cast<std::uintptr_t>(slab.address(slot.at)) % kUnit == 0);
    REQUIRE(slab.address(slot.at) == slab.address(0) + slot.at * kUnit);
  }
}

TEST_CASE("Any allocations and releases agree with a plain list") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    LimitedRegionAllocator regions;
    SlabAllocator slab(regions, kUnit, 200'000);
    Model model(slab);
    RandomEngine random(seed);
    for (int step = 0; step < 20'000; ++step) {
      // Phases that mostly grow alternate with phases that mostly shrink.
      const bool grow = random.below(10) < (step / 2000 % 2 == 0 ? 7U : 3U);
      if (grow || model.slots().empty()) {
        model.allocate(static_cast<std::uint32_t>(1 + random.below(random.below(8) == 0 ? 200 : 6)));
      } else {
        model.release(random.below(model.slots().size()));
      }
      if (step % 1000 == 0) model.check_all();
    }
    model.check_all();
    while (!model.slots().empty()) model.release(0);
    CHECK(slab.units_in_use() == 0);
    CHECK(slab.committed_bytes() == regions.committed_bytes());
  }
}

TEST_CASE("A released slot serves its own size again, the last first, and no other size") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, kUnit, 1000);
  const std::uint32_t small = slab.allocate(2);
  const std::uint32_t large = slab.allocate(5);
  const std::uint32_t other_small = slab.allocate(2);
  slab.release(small, 2);
  slab.release(large, 5);
  slab.release(other_small, 2);
  CHECK(slab.units_in_use() == 0);
  const std::uint32_t fresh = slab.allocate(3);
  CHECK(fresh == 9);
  CHECK(slab.allocate(2) == other_small);
  CHECK(slab.allocate(5) == large);
  CHECK(slab.allocate(2) == small);
  CHECK(slab.allocate(2) == 12);
  CHECK(slab.units_in_use() == 14);
}

TEST_CASE("Keys that come and go in several sizes need no further memory") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, kUnit, 100'000);
  std::size_t committed = 0;
  for (int round = 0; round < 10; ++round) {
    std::vector<Slot> slots;
    for (std::uint32_t i = 0; i < 2000; ++i) slots.push_back({slab.allocate(1 + i % 9), 1 + i % 9, 0});
    for (const Slot& slot : slots) slab.release(slot.at, slot.units);
    if (round == 0) committed = slab.committed_bytes();
  }
  CHECK(slab.committed_bytes() == committed);
}

TEST_CASE("A slot may be larger than a slab, and the last one ends with the region") {
  LimitedRegionAllocator regions;
  SlabAllocator slab(regions, kUnit, 100'000);
  const std::uint32_t large = slab.allocate(90'000);
  std::memset(slab.address(large), 1, 90'000 * kUnit);
  CHECK_THROWS_AS(slab.allocate(10'001), OutOfMemory);
  CHECK(slab.units_in_use() == 90'000);
  const std::uint32_t last = slab.allocate(10'000);
  std::memset(slab.address(last), 2, 10'000 * kUnit);
  CHECK_THROWS_AS(slab.allocate(1), OutOfMemory);
}

TEST_CASE("A slot whose memory is not there is OutOfMemory, and smaller ones still come") {
  LimitedRegionAllocator regions(128 << 10);
  SlabAllocator slab(regions, kUnit, 100'000);
  slab.allocate(4000);
  CHECK_THROWS_AS(slab.allocate(8000), OutOfMemory);
  CHECK(slab.units_in_use() == 4000);
  CHECK(slab.allocate(4000) == 4000);
}
