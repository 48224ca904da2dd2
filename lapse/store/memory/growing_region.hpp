// Memory of a process whose address space is limited (ulimit -v).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lapse/store/memory/free_addresses.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse {

// Gives out regions that take addresses only as they are committed. A mapping counts against the limit of the
// address space as a whole, used or not: regions for as much as could ever be needed would leave none for the
// second table. So a region claims a range, maps a page before and a page behind it, and the range itself
// piece by piece. No region of the same allocator is placed in a claimed range. Nothing keeps other mappings
// out of it, but the kernel begins at the ends of the gap that the ranges are in the middle of. A commit
// whose addresses are taken nevertheless returns false, and nothing is overwritten.
//
// A region claims no more addresses than the limit allows at the time; commits beyond return false.
// Where no unused range can be found, regions are as those of PrivateRegionAllocator.
//
// The regions may outlive the allocator. It and they are made and destroyed by one thread at a time.
class GrowingRegionAllocator : public RegionAllocator {
 public:
  std::unique_ptr<Region> reserve(std::size_t bytes) override;

 private:
  PrivateRegionAllocator whole_;
  std::shared_ptr<std::vector<AddressRange>> claimed_ = std::make_shared<std::vector<AddressRange>>();
};

}  // namespace lapse
