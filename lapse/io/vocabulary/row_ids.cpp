#include "lapse/io/vocabulary/row_ids.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lapse::io {

std::string RowIds::text(std::size_t index) const {
  if (names_.empty()) return std::to_string(numbers_.ids()[index]);
  return std::string(names_.name(static_cast<Vocabulary::Id>(index)));
}

std::vector<RowIds::Index> RowIds::sort() {
  if (names_.empty()) return numbers_.sort();
  std::vector<Index> order(names_.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, [&](Index left, Index right) { return names_.name(left) < names_.name(right); });
  std::vector<Index> new_index(order.size());
  Vocabulary sorted;
  for (const Index old : order) new_index[old] = sorted.add(names_.name(old), names_.count(old));
  names_ = std::move(sorted);
  return new_index;
}

}  // namespace lapse::io
