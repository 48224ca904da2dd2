// Memory for words and slabs: reserved once as addresses, committed piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace lapse {

// A range of addresses that never moves and is given back when the object dies. Committed bytes are zero.
class Region {
 public:
  virtual ~Region() = default;
  virtual std::byte* base() const = 0;
  virtual std::size_t capacity_bytes() const = 0;
  // Makes [offset, offset + bytes) usable; offset and bytes are multiples of the page size, or bytes ends at
  // the capacity. False, not a signal, when the memory is not there.
  virtual bool commit(std::size_t offset, std::size_t bytes) = 0;
};

// Where a store gets its regions from. The store never asks anybody else for memory.
class RegionAllocator {
 public:
  virtual ~RegionAllocator() = default;
  // Null when the address space is not there.
  virtual std::unique_ptr<Region> reserve(std::size_t bytes) = 0;
  // Who uses the memory, for the texts of errors.
  virtual std::string whose() const { return "a table"; }
};

// Memory of this process alone.
class PrivateRegionAllocator : public RegionAllocator {
 public:
  std::unique_ptr<Region> reserve(std::size_t bytes) override;
};

}  // namespace lapse
