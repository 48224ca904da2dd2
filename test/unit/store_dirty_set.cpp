#include "lapse/store/dirty_set.hpp"

#include <array>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/growing_dirty_set.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::DirtySet;
using lapse::GrowingDirtySet;
using lapse::test::LimitedRegionAllocator;

namespace {

constexpr std::uint64_t kGroup = 64 * 64 * 64;

// A set in its own memory, followed by bytes that must not change.
struct OwnedDirtySet {
  explicit OwnedDirtySet(std::uint64_t units)
      : memory(DirtySet::bytes(units) / sizeof(std::uint64_t) + kBehind + 8) {
    auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    address = (address + 63) / 64 * 64;
    set = DirtySet(reinterpret_cast<std::byte*>(address), units);
    behind = reinterpret_cast<std::uint64_t*>(address) + DirtySet::bytes(units) / sizeof(std::uint64_t);
    std::fill_n(behind, kBehind, kCanary);
  }
  bool intact() const {
    return std::all_of(behind, behind + kBehind, [](std::uint64_t word) { return word == kCanary; });
  }

  static constexpr std::size_t kBehind = 4;
  static constexpr std::uint64_t kCanary = 0x1234;
  std::vector<std::uint64_t> memory;
  std::uint64_t* behind;
  DirtySet set;
};

std::vector<std::uint64_t> taken(const DirtySet& set, std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> units;
  set.take(first, count, [&](std::uint64_t unit) { units.push_back(unit); });
  return units;
}

using Units = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("A dirty set takes what was marked, once and in order") {
  const std::uint64_t units = 3 * kGroup + 5000;
  const OwnedDirtySet owned(units);
  const DirtySet& set = owned.set;
  const Units marked{0,          1,          63,         64,         4095,           4096,
                     kGroup - 1, kGroup,     kGroup + 1, 2 * kGroup, 3 * kGroup - 1, 3 * kGroup,
                     units - 65, units - 64, units - 2,  units - 1};
  CHECK_FALSE(set.any(0, units));
  CHECK(taken(set, 0, units).empty());
  for (const std::uint64_t unit : marked) {
    set.mark(unit);
    set.mark(unit);
    CHECK(set.test(unit));
    CHECK(set.any(0, units));
    CHECK(set.any(unit, 1));
  }
  CHECK_FALSE(set.test(2));
  CHECK_FALSE(set.any(5 * 4096, 4096));
  CHECK(taken(set, 0, units) == marked);
  CHECK_FALSE(set.any(0, units));
  for (const std::uint64_t unit : marked) CHECK_FALSE(set.test(unit));
  CHECK(taken(set, 0, units).empty());
  CHECK(owned.intact());
}

TEST_CASE("Ranges of a dirty set may meet anywhere; each takes its own units") {
  std::mt19937_64 random(7);
  for (const std::uint64_t units :
       {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{200}, std::uint64_t{4096},
        std::uint64_t{10'000}, std::uint64_t{kGroup + 77}, std::uint64_t{2 * kGroup + 4096 + 64}}) {
    for (int scenario = 0; scenario < 8; ++scenario) {
      const OwnedDirtySet owned(units);
      std::array<std::uint64_t, 5> border{0, random() % (units + 1), random() % (units + 1),
                                          random() % (units + 1), units};
      if (scenario == 0) border[2] = border[1] + (units - border[1]) / 2;
      std::sort(border.begin(), border.end());
      std::set<std::uint64_t> marked;
      for (int step = 0; step < 200; ++step) {
        // Half of the marks are near the borders.
        for (std::uint64_t i = random() % 8; i > 0; --i) {
          const std::uint64_t near = border[1 + random() % 3] + random() % 130;
          const std::uint64_t unit = random() % 2 == 0 || near < 65 ? random() % units : near - 65;
          if (unit >= units) continue;
          owned.set.mark(unit);
          marked.insert(unit);
        }
        const std::size_t range = random() % 4;
        const std::uint64_t first = border[range];
        const std::uint64_t end = border[range + 1];
        const Units expected(marked.lower_bound(first), marked.lower_bound(end));
        CAPTURE(units, scenario, step, first, end);
        const bool any = owned.set.any(first, end - first);
        REQUIRE((any || expected.empty()));
        REQUIRE(taken(owned.set, first, end - first) == expected);
        REQUIRE_FALSE(owned.set.any(first, end - first));
        for (const std::uint64_t unit : expected) marked.erase(unit);
        for (const std::uint64_t unit : marked) REQUIRE(owned.set.test(unit));
      }
      CHECK(taken(owned.set, 0, units) == Units(marked.begin(), marked.end()));
      CHECK(owned.intact());
    }
  }
}

TEST_CASE("What is marked during a take is for the next one, or for this one further on") {
  const OwnedDirtySet owned(kGroup);
  owned.set.mark(100);
  Units units;
  owned.set.take(0, kGroup, [&](std::uint64_t unit) {
    CHECK_FALSE(owned.set.test(unit));
    units.push_back(unit);
    owned.set.mark(100);
    owned.set.mark(3);
  });
  CHECK(units == Units{100});
  CHECK(taken(owned.set, 0, kGroup) == Units{3, 100});
}

TEST_CASE("When a take is left by an exception, the units that it did not come to stay marked") {
  const std::uint64_t units = 2 * kGroup;
  const OwnedDirtySet owned(units);
  const Units marked{1, 2, 3, 70, 5000, kGroup - 1, kGroup + 4};
  for (std::size_t failing = 0; failing < marked.size(); ++failing) {
    for (const std::uint64_t unit : marked) owned.set.mark(unit);
    const auto fail = [&](std::uint64_t unit) {
      if (unit == marked[failing]) throw std::runtime_error("no");
    };
    CHECK_THROWS_AS(owned.set.take(0, units, fail), std::runtime_error);
    CHECK(taken(owned.set, 0, units) ==
          Units(marked.begin() + static_cast<std::ptrdiff_t>(failing) + 1, marked.end()));
  }
}

TEST_CASE("A dirty set of no unit, and ranges beyond the end") {
  CHECK(DirtySet::bytes(0) == 0);
  const DirtySet none;
  CHECK_FALSE(none.any(0, 100));
  CHECK(taken(none, 0, 100).empty());
  const OwnedDirtySet owned(100);
  owned.set.mark(99);
  CHECK(taken(owned.set, 100, 5).empty());
  CHECK(taken(owned.set, 0, 0).empty());
  CHECK(taken(owned.set, 0, ~std::uint64_t{0}) == Units{99});
}

TEST_CASE("The bytes of a dirty set are as many as its units need") {
  std::size_t last = 0;
  for (std::uint64_t units = 1; units < 3 * kGroup; units += units % 7 + 1000) {
    const std::size_t bytes = DirtySet::bytes(units);
    CHECK(bytes >= last);
    CHECK(bytes >= units / 8);
    CHECK(bytes <= units / 8 + units / 200 + 600);
    const std::uint64_t covered = DirtySet::units_of(bytes);
    CHECK(covered >= units);
    CHECK(covered < units + 64);
    CHECK(DirtySet::units_of(bytes - 8) < units);
    last = bytes;
  }
}

TEST_CASE("A growing dirty set takes memory as slots come into use") {
  LimitedRegionAllocator regions;
  const std::uint64_t max_units = std::uint64_t{1} << 30;
  GrowingDirtySet growing(regions, max_units);
  CHECK(regions.committed_bytes() == 0);
  CHECK_FALSE(growing.any());
  growing.take([](std::uint64_t) { FAIL("nothing is marked"); });
  Units marked;
  for (std::uint64_t units = 1; units < 3 * kGroup; units = units * 3 + 1) {
    REQUIRE(growing.cover(units));
    CHECK(growing.covered_units() >= units);
    CHECK(growing.committed_bytes() == regions.committed_bytes());
    CHECK(growing.committed_bytes() < DirtySet::bytes(units) + 8192);
    growing.marks().mark(units - 1);
    growing.marks().mark(growing.covered_units() - 1);
    marked.push_back(units - 1);
    marked.push_back(growing.covered_units() - 1);
  }
  std::sort(marked.begin(), marked.end());
  marked.erase(std::unique(marked.begin(), marked.end()), marked.end());
  CHECK(growing.any());
  Units units;
  growing.take([&](std::uint64_t unit) { units.push_back(unit); });
  CHECK(units == marked);
  CHECK_FALSE(growing.any());
}

TEST_CASE("A growing dirty set without memory says so and stays as it is") {
  LimitedRegionAllocator regions;
  GrowingDirtySet growing(regions, 10 * kGroup);
  REQUIRE(growing.cover(10));
  growing.marks().mark(9);
  const std::uint64_t covered = growing.covered_units();
  regions.set_commit_limit(regions.committed_bytes());
  CHECK_FALSE(growing.cover(covered + 1));
  CHECK(growing.covered_units() == covered);
  CHECK_FALSE(growing.cover(10 * kGroup + 1));
  regions.set_commit_limit(~std::size_t{0});
  CHECK(growing.cover(10 * kGroup));
  CHECK(growing.covered_units() == 10 * kGroup);
  Units units;
  growing.take([&](std::uint64_t unit) { units.push_back(unit); });
  CHECK(units == Units{9});

  LimitedRegionAllocator no_addresses(0, 0);
  CHECK_THROWS_AS(GrowingDirtySet(no_addresses, 100), lapse::OutOfMemory);
}
