// Division of ids into parts of equal work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lapse::apps {

// Assigns every id (a row, a column, a relation) to one part, so that parts have about equal work: the
// largest ids first, each to the part with the least work so far (longest processing time first; no part
// exceeds the mean by more than the largest id). Ids without work are assigned round-robin. Deterministic.
// Immutable.
class BalancedPartition {
 public:
  // counts[id]: the work of the id. Requires parts >= 1; parts may exceed the number of ids.
  BalancedPartition(std::span<const std::uint32_t> counts, std::size_t parts);
  // Work proportional to the parts' capacities; a part with capacity 0 gets none. Requires a positive
  // capacity.
  BalancedPartition(std::span<const std::uint32_t> counts, std::span<const std::uint32_t> capacities);

  std::size_t parts() const { return ids_with_work_.size(); }
  std::size_t part_of(std::uint32_t id) const { return part_of_[id]; }
  // The ids of one part that have work, in ascending order.
  std::span<const std::uint32_t> ids_with_work(std::size_t part) const { return ids_with_work_[part]; }

 private:
  std::vector<std::uint32_t> part_of_;
  std::vector<std::vector<std::uint32_t>> ids_with_work_;
};

}  // namespace lapse::apps
