// Where the workers of a stage go that has a number of workers and no places (FlexPS, section 5.2).
#pragma once

#include <boost/serialization/map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "lapse/stage/workers.hpp"

namespace lapse::stage {

// Where a task has run.
class PlacementHistory {
 public:
  // The task's workers are on these ranks from now on.
  void use(std::span<const Place> places);
  // 0: never; otherwise higher for a later use.
  std::uint64_t last_use(std::int32_t rank) const;
  // Uses of the last place, one after the other.
  std::uint64_t stayed() const { return stayed_; }

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& last_use_& ranks_& uses_& stayed_;
  }

 private:
  std::map<std::int32_t, std::uint64_t> last_use_;
  std::vector<std::int32_t> ranks_;  // of the last use
  std::uint64_t uses_ = 0;
  std::uint64_t stayed_ = 0;
};

struct RankCapacity {
  std::size_t slots = 0;  // of the run
  std::size_t free = 0;   // of these
  std::int32_t domain = 0;
};

struct PlacementRequest {
  std::size_t workers = 1;
  std::span<const std::uint64_t> data_bytes;  // by rank; empty or all 0: the task has no data
  const PlacementHistory& history;
  bool stay = false;  // on the rank of the last use, if that is possible
};

// Returns places for all workers, by rank, each with free slots; nullopt while there are none. In this order:
// (a) one rank; (b) one domain; (c) as few domains as possible, in proportion to the data of the ranks. Only
// ranks with data count, if their slots suffice for the workers at all.
// Among equals: with data, what the task has not used for longest, so that all parts are used equally often;
// without data, what it has used last, as its parameters are there. Then more free slots, then the lower
// rank.
std::optional<std::vector<Place>> place(const PlacementRequest& request, std::span<const RankCapacity> ranks);

}  // namespace lapse::stage
