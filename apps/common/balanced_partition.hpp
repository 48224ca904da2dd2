// Division of ids into parts of equal work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lapse::apps {

// Assigns every id (a row, a column, a relation) to one part, so that the parts have about equally much work:
// the largest ids first, each to the part that has least so far (longest processing time first; no part
// exceeds the mean by more than the largest id). Ids without work are dealt out in turn. The same counts give
// the same parts everywhere. Immutable.
class BalancedPartition {
 public:
  // counts[id]: work of the id. parts >= 1; there may be more parts than ids.
  BalancedPartition(std::span<const std::uint32_t> counts, std::size_t parts);
  // Work in proportion to the parts' capacities; a part with capacity 0 gets none. At least one capacity is
  // positive.
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
