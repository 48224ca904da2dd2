// How many REFRESHes have been exchanged with each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse {

// REFRESHes may overtake other messages: a rank that has been sent so many has all of them once it has
// received so many. Pure. Thread safety: the holder of the progress lock.
class RefreshCounts {
 public:
  explicit RefreshCounts(std::int32_t ranks) : of_(static_cast<std::size_t>(ranks)) {}

  void add_sent(Rank to) { ++of_[to.index()].sent; }
  void add_received(Rank from, std::uint32_t count) { of_[from.index()].received += count; }
  std::uint64_t sent(Rank to) const { return of_[to.index()].sent; }
  std::uint64_t received(Rank from) const { return of_[from.index()].received; }

 private:
  struct OfRank {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  std::vector<OfRank> of_;
};

}  // namespace lapse
