// Memory of a process with limited address space (ulimit -v).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lapse/store/memory/free_addresses.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse {

// Provides regions that take addresses only as they are committed. A whole mapping counts against the limit,
// used or not: reserving the maximum for each region would leave no addresses for a second table. So a region
// claims a range, maps one page before and one after it, and maps the range itself piece by piece. The
// allocator places no other region in a claimed range. Other mappings could still be placed there, although
// the kernel starts at the ends of the gap, and the ranges are in its middle. Then a commit of those
// addresses returns false, and nothing is overwritten.
//
// A region claims no more addresses than the limit allows at the time; commits beyond return false. If no
// unused range is found, regions are like those of PrivateRegionAllocator.
//
// The regions may outlive the allocator. One thread at a time creates and destroys it and them.
class GrowingRegionAllocator : public RegionAllocator {
 public:
  std::unique_ptr<Region> reserve(std::size_t bytes) override;

 private:
  PrivateRegionAllocator whole_;
  std::shared_ptr<std::vector<AddressRange>> claimed_ = std::make_shared<std::vector<AddressRange>>();
};

}  // namespace lapse
