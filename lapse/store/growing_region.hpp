// Memory of a process whose address space is limited (ulimit -v).
#pragma once

#include <cstddef>
#include <memory>

#include "lapse/store/region.hpp"

namespace lapse {

// Gives out regions that take addresses only as they are committed. A mapping counts against the limit of the
// address space as a whole, used or not: regions for as much as could ever be needed would leave none for the
// second table. So a region maps a page before and a page behind its range, which keep other mappings away,
// and the range itself piece by piece. A commit whose addresses are taken nevertheless returns false.
//
// Where no unused range can be found, regions are as those of PrivateRegionAllocator.
class GrowingRegionAllocator : public RegionAllocator {
 public:
  std::unique_ptr<Region> reserve(std::size_t bytes) override;

 private:
  PrivateRegionAllocator whole_;
};

}  // namespace lapse
