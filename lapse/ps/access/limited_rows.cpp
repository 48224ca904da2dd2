#include "lapse/ps/access/limited_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <type_traits>

#include "lapse/core/error.hpp"
#include "lapse/core/not_finite_update.hpp"
#include "lapse/store/update_rules/kernels.hpp"
#include "lapse/store/update_rules/row_norm.hpp"

namespace lapse {

namespace {

// Calls f(key, index of the first element, row) for each key.
template <class T, class F>
void for_each_row(const ValueSizes& sizes, std::span<const Key> keys, std::span<const T> rows, F&& f) {
  std::size_t first = 0;
  for (const Key key : keys) {
    const std::size_t length = sizes.length(key);
    f(key, first, rows.subspan(first, length));
    first += length;
  }
}

}  // namespace

LimitedRows::LimitedRows(const Call& call, OperationKind kind, std::span<const Key> keys,
                         const std::byte* rows, std::size_t elements)
    : rows_(rows) {
  visit_element(call.table.sizes().layout().type, [&](auto element) {
    using T = decltype(element);
    // Other tables have no limits.
    if constexpr (std::is_floating_point_v<T>) look_at<T>(call, kind, keys, elements);
  });
}

template <class T>
void LimitedRows::look_at(const Call& call, OperationKind kind, std::span<const Key> keys,
                          std::size_t elements) {
  const PushLimits& limits = call.table.definition().limits;
  const bool clips = limits.max_norm && kind == OperationKind::push;
  if (!clips && limits.not_finite == NotFinite::allow) return;
  const std::span<const T> rows(reinterpret_cast<const T*>(rows_), elements);
  call.counters.checked_rows += keys.size();
  const bool finite = all_finite(rows);
  if (finite && !clips) return;
  std::uint64_t not_finite = 0;
  std::uint64_t clipped = 0;
  const bool refuses = !finite && limits.not_finite == NotFinite::refuse;
  for_each_row(call.table.sizes(), keys, rows, [&](Key, std::size_t first, std::span<const T> row) {
    if (!finite && !all_finite(row)) {
      ++not_finite;
    } else if (clips && !refuses && clip(call, row, first, elements)) {
      ++clipped;
    }
  });
  call.counters.not_finite_rows += not_finite;
  call.counters.clipped_rows += clipped;
  if (refuses) refuse(call, kind, keys, rows);
}

template <class T>
void LimitedRows::refuse(const Call& call, OperationKind kind, std::span<const Key> keys,
                         std::span<const T> rows) const {
  for_each_row(call.table.sizes(), keys, rows, [&](Key key, std::size_t, std::span<const T> row) {
    const auto found = std::ranges::find_if_not(row, [](T element) { return std::isfinite(element); });
    if (found == row.end()) return;
    throw NotFiniteUpdate(kind == OperationKind::push ? "a push" : "a set", call.table.name(), key,
                          static_cast<std::size_t>(found - row.begin()), static_cast<double>(*found),
                          call.rank);
  });
}

template <class T>
bool LimitedRows::clip(const Call& call, std::span<const T> row, std::size_t first, std::size_t elements) {
  const double max_norm = *call.table.definition().limits.max_norm;
  const RowNorm<T> norm(row);
  if (norm.value() <= max_norm) return false;
  try {
    if (clipped_.empty()) clipped_.assign(rows_, rows_ + elements * sizeof(T));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("no memory on rank {} for {} elements of a push to table '{}' that are scaled "
                    "down to its max_push_norm",
                    call.rank.value(), elements, call.table.name()));
  }
  norm.scale_to(max_norm, row, reinterpret_cast<T*>(clipped_.data()) + first);
  return true;
}

}  // namespace lapse
