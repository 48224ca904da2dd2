#include "lapse/store/memory/memory_budget.hpp"

#include "lapse/core/error.hpp"
#include "lapse/store/key_copies.hpp"
#include "lapse/store/memory/available_memory.hpp"
#include "lapse/store/memory/memory_reserve.hpp"
#include "lapse/store/memory/slab.hpp"
#include "lapse/store/store.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::Copies;
using lapse::ElementType;
using lapse::Key;
using lapse::KeyCopies;
using lapse::KeyWords;
using lapse::MemoryBudget;
using lapse::MemoryReserve;
using lapse::OutOfMemory;
using lapse::Region;
using lapse::RegionAllocator;
using lapse::Role;
using lapse::SlabAllocator;
using lapse::Store;
using lapse::ValueLayout;
using lapse::ValueSizes;
using lapse::test::contains;
using lapse::test::LimitedRegionAllocator;
using lapse::test::thrown_text;

namespace {

constexpr std::size_t kPage = 4096;

// Regions of addresses that are never touched: requests that the budget refuses must not reach them.
class UntouchedRegions final : public RegionAllocator {
 public:
  std::unique_ptr<Region> reserve(std::size_t bytes) override {
    return std::make_unique<UntouchedRegion>(bytes);
  }

 private:
  class UntouchedRegion final : public Region {
   public:
    explicit UntouchedRegion(std::size_t bytes) : bytes_(bytes) {}
    std::byte* base() const override { return nullptr; }
    std::size_t capacity_bytes() const override { return bytes_; }
    bool commit(std::size_t, std::size_t) override { return true; }

   private:
    std::size_t bytes_;
  };
};

}  // namespace

TEST_CASE("The regions of a budget together commit at most its limit") {
  LimitedRegionAllocator inner;
  MemoryBudget budget(inner, "table 'x' on rank 3", 10 * kPage);
  const auto first = budget.reserve(100 * kPage);
  const auto second = budget.reserve(100 * kPage);
  CHECK(first->capacity_bytes() == 100 * kPage);
  CHECK(first->commit(0, 6 * kPage));
  CHECK(second->commit(0, 3 * kPage));
  first->base()[6 * kPage - 1] = std::byte{1};
  const std::string text = thrown_text<OutOfMemory>([&] { second->commit(3 * kPage, 2 * kPage); });
  CHECK(contains(text, "table 'x' on rank 3"));
  CHECK(contains(text, std::to_string(2 * kPage) + " bytes more"));
  CHECK(contains(text, std::to_string(9 * kPage)));
  CHECK(contains(text, "limit is " + std::to_string(10 * kPage) + " bytes"));
  CHECK(inner.committed_bytes() == 9 * kPage);
  // A smaller request still fits.
  CHECK(second->commit(3 * kPage, kPage));
  CHECK(inner.committed_bytes() == 10 * kPage);
}

TEST_CASE("A piece that ends at the capacity counts as far as it goes") {
  LimitedRegionAllocator inner;
  MemoryBudget budget(inner, "table 'x'", 3 * kPage);
  const auto region = budget.reserve(2 * kPage);
  CHECK(region->commit(kPage, 100 * kPage));
  const auto other = budget.reserve(8 * kPage);
  CHECK(other->commit(0, 2 * kPage));
}

TEST_CASE("What the inner regions could not commit is not counted") {
  LimitedRegionAllocator inner(2 * kPage);
  MemoryBudget budget(inner, "table 'x'", 4 * kPage);
  const auto region = budget.reserve(100 * kPage);
  CHECK_FALSE(region->commit(0, 3 * kPage));
  inner.set_commit_limit(4 * kPage);
  CHECK(region->commit(0, 4 * kPage));
}

TEST_CASE("Addresses that are not there give no region") {
  LimitedRegionAllocator inner(~std::size_t{0}, kPage);
  MemoryBudget budget(inner, "table 'x'", std::nullopt);
  CHECK(budget.reserve(2 * kPage) == nullptr);
}

TEST_CASE("Without a limit the memory of the machine is one, less a reserve") {
  UntouchedRegions inner;
  MemoryBudget budget(inner, "table 'y' on rank 0", std::nullopt);
  const std::size_t available = lapse::available_memory_bytes();
  REQUIRE(available > 2 * MemoryBudget::kReserveBytes);
  const auto region = budget.reserve(std::size_t{1} << 60);
  CHECK(region->commit(0, available / 4));
  const std::size_t too_much = available * 2;
  const std::string text = thrown_text<OutOfMemory>([&] { region->commit(0, too_much); });
  CHECK(contains(text, "table 'y' on rank 0 takes " + std::to_string(available / 4) + " bytes"));
  CHECK(contains(text, "needs " + std::to_string(too_much) + " more"));
  CHECK(contains(text, std::to_string(MemoryBudget::kReserveBytes) + " are kept free"));
}

TEST_CASE("Many budgets that share what was not checked leave as much as one") {
  UntouchedRegions inner;
  const auto unchecked = std::make_shared<lapse::UncheckedMemory>();
  constexpr std::size_t kPiece = MemoryBudget::kReserveBytes / 64;
  std::uint64_t largest = 0;
  for (int table = 0; table < 100; ++table) {
    MemoryBudget budget(inner, "table", std::nullopt, unchecked);
    CHECK(budget.reserve(kPiece)->commit(0, kPiece));
    largest = std::max(largest, unchecked->bytes);
  }
  CHECK(largest < MemoryBudget::kReserveBytes / 16);
}

TEST_CASE("The users of one reserve leave as much as one") {
  REQUIRE(lapse::available_memory_bytes() > 2 * MemoryBudget::kReserveBytes);
  MemoryReserve reserve;
  constexpr std::uint64_t kPiece = MemoryReserve::kCheckBytes / 4;
  std::uint64_t largest = 0;
  for (int table = 0; table < 100; ++table) {
    CHECK(reserve.allows(kPiece));
    largest = std::max(largest, reserve.unchecked_bytes());
  }
  CHECK(largest == MemoryReserve::kCheckBytes - kPiece);
}

TEST_CASE("What may be tried without an error gives nothing at the limit; all else names it") {
  constexpr std::size_t kSlab = std::size_t{64} << 10;
  constexpr std::size_t kUnit = 64;
  LimitedRegionAllocator inner;
  MemoryBudget budget(inner, "table 'x'", kSlab + kSlab / 2);
  SlabAllocator slots(budget, kUnit, 1 << 20);
  std::size_t given = 0;
  while (slots.try_allocate()) ++given;
  CHECK(given == kSlab / kUnit);
  CHECK_FALSE(slots.try_promise());
  slots.try_commit_for(given);
  CHECK(slots.committed_bytes() == kSlab);
  CHECK(contains(thrown_text<OutOfMemory>([&] { slots.allocate(); }), "its memory limit is"));
  CHECK(contains(thrown_text<OutOfMemory>([&] { slots.promise(); }), "its memory limit is"));
  // The system is asked again from time to time, and no memory is promised in between.
  for (std::uint64_t i = 0; i < 2 * SlabAllocator::kRefusalsPerTry; ++i) REQUIRE_FALSE(slots.try_promise());
  slots.release(0);
  CHECK(slots.try_promise());
  CHECK_FALSE(slots.try_promise());
}

TEST_CASE("A store whose marks reach the limit has no room for a copy, and keeps none") {
  constexpr std::size_t kSlab = std::size_t{64} << 10;
  const bool uniform = GENERATE(true, false);
  INFO("uniform " << uniform);
  LimitedRegionAllocator inner;
  // Three pieces of slot words and one slab: no memory is left for the marks.
  MemoryBudget budget(inner, "table 'x'", 4 * kSlab);
  const ValueLayout layout{
      .type = ElementType::int64, .length = 1, .state = {}, .copies = Copies::differences};
  const ValueSizes sizes = uniform ? ValueSizes(layout) : ValueSizes::computed(layout, [](Key) { return 1; });
  Store store(budget, KeyWords::sparse(budget, 100'000), sizes, 10'000, 0);
  KeyCopies copies(store);
  std::optional<std::uint32_t> slot;
  CHECK_FALSE(copies.try_prepare(Key(7), slot));
  if (uniform) CHECK_FALSE(store.try_prepare_arrivals(2));
  CHECK(store.word(Key(7)).role() == Role::absent);
  const std::string text = thrown_text<OutOfMemory>([&] { store.prepare_arrival(Key(7)); });
  CHECK(contains(text, "its memory limit is"));
  // A value without replicas still fits.
  store.create(Key(7), [](std::byte*) {});
  CHECK_FALSE(copies.make_markable(store.word(Key(7)).slot()));
}

TEST_CASE("Regions outlive their budget") {
  LimitedRegionAllocator inner;
  std::unique_ptr<Region> region;
  {
    MemoryBudget budget(inner, "table 'z'", 2 * kPage);
    region = budget.reserve(10 * kPage);
  }
  CHECK(region->commit(0, 2 * kPage));
  CHECK_THROWS_AS(region->commit(2 * kPage, kPage), OutOfMemory);
}
