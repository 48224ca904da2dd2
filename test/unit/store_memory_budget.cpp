#include "lapse/store/memory_budget.hpp"

#include "lapse/core/error.hpp"
#include "lapse/store/available_memory.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/store_limited_region.hpp"

using lapse::MemoryBudget;
using lapse::OutOfMemory;
using lapse::Region;
using lapse::RegionAllocator;
using lapse::test::contains;
using lapse::test::LimitedRegionAllocator;
using lapse::test::thrown_text;

namespace {

constexpr std::size_t kPage = 4096;

// Regions of addresses that are never touched: what the budget refuses must not reach them.
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
  // Less still fits.
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
