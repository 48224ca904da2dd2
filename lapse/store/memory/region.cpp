#include "lapse/store/memory/region.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "lapse/core/process/pages.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

namespace {

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

class PrivateRegion : public Region {
 public:
  // The region is a part of a larger mapping.
  PrivateRegion(std::byte* base, std::size_t bytes, void* mapping, std::size_t mapped)
      : base_(base), bytes_(bytes), mapping_(mapping), mapped_(mapped) {}
  ~PrivateRegion() override { munmap(mapping_, mapped_); }
  PrivateRegion(const PrivateRegion&) = delete;
  PrivateRegion& operator=(const PrivateRegion&) = delete;

  std::byte* base() const override { return base_; }
  std::size_t capacity_bytes() const override { return bytes_; }

  bool commit(std::size_t offset, std::size_t bytes) override {
    const std::size_t length = std::min(bytes, bytes_ - offset);
    if (mprotect(base_ + offset, length, PROT_READ | PROT_WRITE) != 0) return false;
    return populate_pages(base_ + offset, length, [] { return available_for_reserved_memory().bytes; });
  }

 private:
  std::byte* base_;
  std::size_t bytes_;
  void* mapping_;
  std::size_t mapped_;
};

}  // namespace

void advise_huge_pages(std::byte* begin, std::size_t bytes) {
  // A request: if the kernel does not grant it, small pages suffice.
  if (bytes >= kHugePageBytes) madvise(begin, bytes, MADV_HUGEPAGE);
}

bool MappedRegion::commit(std::size_t offset, std::size_t bytes) {
  return populate_pages(base_ + offset, std::min(bytes, bytes_ - offset), free_bytes_);
}

std::unique_ptr<Region> PrivateRegionAllocator::reserve(std::size_t bytes) {
  const std::size_t length = round_up(std::max<std::size_t>(bytes, 1), page_bytes());
  // Huge pages need their alignment.
  const std::size_t slack = length >= kHugePageBytes ? kHugePageBytes : 0;
  void* mapping =
      mmap(nullptr, length + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(mapping);
  const std::size_t skip = slack == 0 ? 0 : round_up(address, kHugePageBytes) - address;
  auto* const base = static_cast<std::byte*>(mapping) + skip;
  advise_huge_pages(base, length);
  return std::make_unique<PrivateRegion>(base, length, mapping, length + slack);
}

}  // namespace lapse
