// Division of rows or columns into parts of equal work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lapse::apps {

// Assigns every id (a row or a column) to one part, so that the parts have about equally many cells: the
// largest ids first, each to the part that has fewest so far (longest processing time first; no part exceeds
// the mean by more than the largest id). Ids without cells are dealt out in turn. The same counts give the
// same parts everywhere. Immutable.
class BalancedPartition {
 public:
  // counts[id]: cells of the id. parts >= 1; there may be more parts than ids.
  BalancedPartition(std::span<const std::uint32_t> counts, std::size_t parts);

  std::size_t parts() const { return ids_with_cells_.size(); }
  std::size_t part_of(std::uint32_t id) const { return part_of_[id]; }
  // The ids of one part that have cells, in ascending order.
  std::span<const std::uint32_t> ids_with_cells(std::size_t part) const { return ids_with_cells_[part]; }

 private:
  std::vector<std::uint32_t> part_of_;
  std::vector<std::vector<std::uint32_t>> ids_with_cells_;
};

}  // namespace lapse::apps
