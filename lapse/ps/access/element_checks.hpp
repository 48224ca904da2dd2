// Checks the arguments of a worker's call on single elements.
#pragma once

#include <cstddef>
#include <string_view>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/store/row_elements.hpp"

namespace lapse {

// Throws before anything is applied, naming table and rank. The table can have every key.
class ElementChecks {
 public:
  ElementChecks(const TableShard& table, Rank rank) : table_(table), rank_(rank) {}

  // Checks that there is an index for each of `keys` keys. Throws LengthMismatch.
  void keys(std::size_t keys, std::size_t indices) const;
  // Checks that there are `elements` elements, one for each pair, and that every index is below the length of
  // its key's value. Throws LengthMismatch, IndexOutOfRange, and UsageError for too many pairs.
  void pairs(const ElementPairs& pairs, std::string_view what, std::size_t elements) const;
  // Checks that pushes to single elements of the table are possible, and that the table accepts these.
  // Counts, in `counters`, those that are not finite. Throws UsageError and NotFiniteUpdate.
  void updates(const ElementPairs& pairs, const std::byte* updates, TableCounters& counters) const;

 private:
  template <class T>
  void check_finite(const ElementPairs& pairs, const T* updates, TableCounters& counters) const;

  const TableShard& table_;
  const Rank rank_;
};

}  // namespace lapse
