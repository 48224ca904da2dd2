#include "lapse/store/growing_region.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "lapse/store/available_memory.hpp"
#include "lapse/store/free_addresses.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace lapse {

namespace {

// At these addresses and no others; false when something is there or the limit is reached.
bool map_at(std::byte* begin, std::size_t bytes, int protection) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const mapping = mmap(begin, bytes, protection, kFlags, -1, 0);
  if (mapping == begin) return true;
  // A kernel before 4.17 takes the address for a hint.
  if (mapping != MAP_FAILED) munmap(mapping, bytes);
  return false;
}

class GrowingRegion : public Region {
 public:
  // `bytes` and what is committed are multiples of `page`.
  GrowingRegion(std::byte* base, std::size_t bytes, std::size_t page)
      : base_(base), bytes_(bytes), page_(page) {}
  ~GrowingRegion() override {
    if (!marked_) return;
    munmap(base_ - page_, page_ + mapped_);
    munmap(base_ + bytes_, page_);
  }
  GrowingRegion(const GrowingRegion&) = delete;
  GrowingRegion& operator=(const GrowingRegion&) = delete;

  // Takes the pages around the range. False when something is there by now.
  bool mark() {
    if (!map_at(base_ - page_, page_, PROT_NONE)) return false;
    marked_ = map_at(base_ + bytes_, page_, PROT_NONE);
    if (!marked_) munmap(base_ - page_, page_);
    return marked_;
  }

  std::byte* base() const override { return base_; }
  std::size_t capacity_bytes() const override { return bytes_; }

  bool commit(std::size_t offset, std::size_t bytes) override {
    const std::size_t end = std::min(offset + bytes, bytes_);
    const std::size_t before = mapped_;
    if (end > before) {
      if (!map_at(base_ + before, end - before, PROT_READ | PROT_WRITE)) return false;
      mapped_ = end;
      advise_huge_pages(base_, mapped_);
    }
    if (populate_pages(base_ + offset, end - offset, available_memory_bytes))
      return true;
    if (mapped_ > before) munmap(base_ + before, mapped_ - before);
    mapped_ = before;
    return false;
  }

 private:
  std::byte* base_;
  std::size_t bytes_;
  std::size_t page_;
  std::size_t mapped_ = 0;  // from the base on
  bool marked_ = false;
};

}  // namespace

std::unique_ptr<Region> GrowingRegionAllocator::reserve(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t length = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  // Another thread may have taken the range meanwhile.
  constexpr int kAttempts = 8;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::ifstream maps("/proc/self/maps");
    const std::optional<std::uintptr_t> found = find_free_addresses(maps, length);
    if (!found) break;
    auto region = std::make_unique<GrowingRegion>(reinterpret_cast<std::byte*>(*found), length, page);
    if (region->mark()) return region;
  }
  return whole_.reserve(bytes);
}

}  // namespace lapse
