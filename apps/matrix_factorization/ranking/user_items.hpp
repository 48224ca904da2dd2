// The items of each user.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/io/matrices/coordinate_matrix.hpp"

namespace lapse::apps {

// The distinct columns of the cells of each row, ascending: the items that each user has. Takes 4 bytes for
// each and 8 for each row. Immutable.
class UserItems {
 public:
  // Without the columns that `except`, which may be null, has in the same row. Requires rows of cells below
  // `rows`.
  UserItems(std::span<const io::Cell> cells, std::uint64_t rows, const UserItems* except = nullptr);

  std::uint64_t rows() const { return begin_.size() - 1; }
  // The number of pairs of a row and a column.
  std::size_t pairs() const { return columns_.size(); }
  std::span<const std::uint32_t> of(std::uint64_t row) const {
    return std::span(columns_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  bool has(std::uint64_t row, std::uint32_t column) const {
    const auto columns = of(row);
    return std::binary_search(columns.begin(), columns.end(), column);
  }

 private:
  std::vector<std::size_t> begin_;  // in columns_: of each row, and the end
  std::vector<std::uint32_t> columns_;
};

}  // namespace lapse::apps
