#include "lapse/store/memory/growing_region.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "lapse/core/process/pages.hpp"
#include "lapse/store/memory/available_memory.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace lapse {

namespace {

// Maps exactly these addresses; false if they are in use or the limit is reached.
bool map_at(std::byte* begin, std::size_t bytes, int protection) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const mapping = mmap(begin, bytes, protection, kFlags, -1, 0);
  if (mapping == begin) return true;
  // A kernel before 4.17 treats the address as a hint.
  if (mapping != MAP_FAILED) munmap(mapping, bytes);
  return false;
}

using ClaimedRanges = std::vector<AddressRange>;

class GrowingRegion : public Region {
 public:
  // `bytes`, `claimed_bytes` and the committed sizes are multiples of `page`.
  GrowingRegion(std::byte* base, std::size_t bytes, std::size_t claimed_bytes, std::size_t page)
      : base_(base), bytes_(bytes), claimed_bytes_(claimed_bytes), page_(page) {}
  ~GrowingRegion() override {
    if (!claimed_) return;
    munmap(base_ - page_, page_ + mapped_);
    munmap(base_ + claimed_bytes_, page_);
    std::erase_if(*claimed_,
                  [&](const AddressRange& range) { return range.begin == address(base_ - page_); });
  }
  GrowingRegion(const GrowingRegion&) = delete;
  GrowingRegion& operator=(const GrowingRegion&) = delete;

  // Maps the pages around the range and adds all to `claimed`. False if the addresses are in use by now.
  bool claim(const std::shared_ptr<ClaimedRanges>& claimed) {
    std::byte* const end = base_ + claimed_bytes_;
    if (!map_at(base_ - page_, page_, PROT_NONE)) return false;
    if (!map_at(end, page_, PROT_NONE)) {
      munmap(base_ - page_, page_);
      return false;
    }
    claimed_ = claimed;
    claimed_->push_back({address(base_ - page_), address(end + page_)});
    return true;
  }

  std::byte* base() const override { return base_; }
  std::size_t capacity_bytes() const override { return bytes_; }

  bool commit(std::size_t offset, std::size_t bytes) override {
    const std::size_t end = std::min(offset + bytes, bytes_);
    const std::size_t before = mapped_;
    if (end > claimed_bytes_) return false;
    if (end > before) {
      if (!map_at(base_ + before, end - before, PROT_READ | PROT_WRITE)) return false;
      mapped_ = end;
      advise_huge_pages(base_, mapped_);
    }
    if (populate_pages(base_ + offset, end - offset, available_memory_bytes)) return true;
    if (mapped_ > before) munmap(base_ + before, mapped_ - before);
    mapped_ = before;
    return false;
  }

 private:
  static std::uintptr_t address(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

  std::byte* base_;
  std::size_t bytes_;
  std::size_t claimed_bytes_;
  std::size_t page_;
  std::size_t mapped_ = 0;                  // from the base on
  std::shared_ptr<ClaimedRanges> claimed_;  // of all regions; null: this one has claimed nothing
};

}  // namespace

std::unique_ptr<Region> GrowingRegionAllocator::reserve(std::size_t bytes) {
  const std::size_t page = page_bytes();
  const auto pages = [page](std::size_t count) { return (count + page - 1) / page * page; };
  const std::size_t length = pages(std::max<std::size_t>(bytes, 1));
  const std::size_t claimed_length = pages(std::min(length, address_limit_bytes()));
  // Another thread may have taken the range meanwhile.
  constexpr int kAttempts = 8;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::ifstream maps("/proc/self/maps");
    const std::optional<std::uintptr_t> found = find_free_addresses(maps, *claimed_, claimed_length);
    if (!found) break;
    auto region =
        std::make_unique<GrowingRegion>(reinterpret_cast<std::byte*>(*found), length, claimed_length, page);
    if (region->claim(claimed_)) return region;
  }
  return whole_.reserve(bytes);
}

}  // namespace lapse
