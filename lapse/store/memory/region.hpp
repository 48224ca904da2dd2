// Memory for slot words and slabs: addresses are reserved once, memory is committed piece by piece.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace lapse {

// A range of addresses that never moves and is released by the destructor. Committed bytes are zero.
class Region {
 public:
  virtual ~Region() = default;
  virtual std::byte* base() const = 0;
  virtual std::size_t capacity_bytes() const = 0;
  // Makes [offset, offset + bytes) usable. offset and bytes are multiples of the page size, or bytes ends at
  // the capacity. Returns false, without a signal, if out of memory.
  virtual bool commit(std::size_t offset, std::size_t bytes) = 0;
};

// The source of a store's regions, and its only source of memory.
class RegionAllocator {
 public:
  virtual ~RegionAllocator() = default;
  // Null if there is not enough address space.
  virtual std::unique_ptr<Region> reserve(std::size_t bytes) = 0;
  // The owner label: the user of the memory, for error messages.
  virtual std::string whose() const { return "a table"; }
};

// The regions of `inner`, with an owner label.
class LabelledRegions : public RegionAllocator {
 public:
  LabelledRegions(RegionAllocator& inner, std::string owner_label)
      : inner_(inner), owner_label_(std::move(owner_label)) {}

  std::unique_ptr<Region> reserve(std::size_t bytes) override { return inner_.reserve(bytes); }
  std::string whose() const override { return owner_label_; }

 private:
  RegionAllocator& inner_;
  std::string owner_label_;
};

// Requests huge pages for ranges of at least this size. They avoid most page-table misses of random accesses
// to a large table.
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
void advise_huge_pages(std::byte* begin, std::size_t bytes);

// A part of memory that its owner maps, such as memory shared by the ranks of a domain. `base` is
// page-aligned, stays mapped while the region is used, and reads as zero until written. Committing takes
// pages of the underlying memory, such as a file system in memory.
class MappedRegion : public Region {
 public:
  // `free_bytes` returns how much memory is left if the kernel cannot report it.
  MappedRegion(std::byte* base, std::size_t bytes, std::function<std::size_t()> free_bytes)
      : base_(base), bytes_(bytes), free_bytes_(std::move(free_bytes)) {}

  std::byte* base() const override { return base_; }
  std::size_t capacity_bytes() const override { return bytes_; }
  bool commit(std::size_t offset, std::size_t bytes) override;

 private:
  std::byte* base_;
  std::size_t bytes_;
  std::function<std::size_t()> free_bytes_;
};

// Memory of this process only.
class PrivateRegionAllocator : public RegionAllocator {
 public:
  std::unique_ptr<Region> reserve(std::size_t bytes) override;
};

}  // namespace lapse
