#include "apps/matrix_factorization/ranking/user_items.hpp"

#include <numeric>

namespace lapse::apps {

UserItems::UserItems(std::span<const io::Cell> cells, std::uint64_t rows, const UserItems* except)
    : begin_(rows + 1) {
  for (const io::Cell& cell : cells) ++begin_[cell.row + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  columns_.resize(cells.size());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (const io::Cell& cell : cells) columns_[next[cell.row]++] = cell.column;
  // Sorts each row and closes the gaps that omitted columns leave.
  std::size_t kept = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const auto first = columns_.begin() + static_cast<std::ptrdiff_t>(begin_[row]);
    const auto last = columns_.begin() + static_cast<std::ptrdiff_t>(next[row]);
    std::sort(first, last);
    const auto end = std::unique(first, last);
    begin_[row] = kept;
    for (auto column = first; column != end; ++column) {
      if (except != nullptr && except->has(row, *column)) continue;
      columns_[kept++] = *column;
    }
  }
  begin_[rows] = kept;
  columns_.resize(kept);
  columns_.shrink_to_fit();
}

}  // namespace lapse::apps
