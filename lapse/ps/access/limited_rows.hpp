// The rows of a push or a set to a table with limits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/operation_kind.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Checks the rows on the calling worker's rank, before anything of the call is applied or sent: counts those
// that are not finite, or refuses the call; scales rows of pushes down to the table's norm. Checks each row
// by itself, even if the call names a key twice.
//
// Thread safety: the worker's.
class LimitedRows {
 public:
  // The worker and the table of the call. The counters are the worker's, for the table.
  struct Call {
    const TableShard& table;
    TableCounters& counters;
    Rank rank;
  };

  // `rows`: the rows of the keys, with `elements` elements in all; outlives the object. The table has limits.
  // Throws NotFiniteUpdate with the first element that is not finite, if the table refuses those, and
  // OutOfMemory.
  LimitedRows(const Call& call, OperationKind kind, std::span<const Key> keys, const std::byte* rows,
              std::size_t elements);
  LimitedRows(const LimitedRows&) = delete;
  LimitedRows& operator=(const LimitedRows&) = delete;

  // Returns the rows to apply: the given ones, or a copy that lives as long as the object.
  const std::byte* data() const { return clipped_.empty() ? rows_ : clipped_.data(); }

 private:
  template <class T>
  void look_at(const Call& call, OperationKind kind, std::span<const Key> keys, std::size_t elements);
  template <class T>
  void refuse(const Call& call, OperationKind kind, std::span<const Key> keys, std::span<const T> rows) const;
  // Scales down the row that begins at this element, if it exceeds the norm.
  template <class T>
  bool clip(const Call& call, std::span<const T> row, std::size_t first, std::size_t elements);

  const std::byte* const rows_;
  std::vector<std::byte> clipped_;  // all rows of the call, once one is scaled down
};

}  // namespace lapse
