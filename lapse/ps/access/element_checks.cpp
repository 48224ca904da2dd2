#include "lapse/ps/access/element_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

#include "lapse/core/error.hpp"
#include "lapse/core/index_out_of_range.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/core/not_finite_update.hpp"
#include "lapse/store/update_rules/kernels.hpp"

namespace lapse {

void ElementChecks::keys(std::size_t keys, std::size_t indices) const {
  if (keys != indices) throw LengthMismatch(table_.name(), "indices", indices, keys, rank_);
}

void ElementChecks::pairs(const ElementPairs& pairs, std::string_view what, std::size_t elements) const {
  if (elements != pairs.size()) throw LengthMismatch(table_.name(), what, elements, pairs.size(), rank_);
  if (pairs.size() > limits::kPairsOfCall) {
    throw UsageError(fmt::format("a call on {} elements of table '{}' on rank {}: at most {}", pairs.size(),
                                 table_.name(), rank_.value(), limits::kPairsOfCall));
  }
  const ValueSizes& sizes = table_.sizes();
  if (pairs.have_one_key() || sizes.uniform()) {
    if (pairs.size() == 0) return;
    const std::size_t length = sizes.length(pairs.key(0));
    // Without a branch for each index.
    std::uint32_t largest = 0;
    for (const std::uint32_t index : pairs.indices) largest = std::max(largest, index);
    if (largest < length) [[likely]]
      return;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::size_t length = sizes.length(pairs.key(i));
    if (pairs.indices[i] >= length)
      throw IndexOutOfRange(table_.name(), pairs.key(i), pairs.indices[i], length, rank_);
  }
}

void ElementChecks::updates(const ElementPairs& pairs, const std::byte* updates,
                            TableCounters& counters) const {
  const UpdateKernel& rule = table_.definition().rule;
  if (!rule.is_elementwise()) {
    throw UsageError(
        fmt::format("a push to elements of table '{}' on rank {}: its update rule {} needs whole values; the "
                    "rules add, sgd, adagrad and ftrl can push to single elements",
                    table_.name(), rank_.value(), rule.rule().name()));
  }
  const PushLimits& limits = table_.definition().limits;
  if (limits.max_norm) {
    throw UsageError(
        fmt::format("a push to elements of table '{}' on rank {}: its max_push_norm limits pushes of whole "
                    "values; such a table has no pushes to single elements",
                    table_.name(), rank_.value()));
  }
  if (limits.not_finite == NotFinite::allow) return;
  visit_element(table_.sizes().layout().type, [&](auto element) {
    using T = decltype(element);
    // Other tables have no limits.
    if constexpr (std::is_floating_point_v<T>)
      check_finite(pairs, reinterpret_cast<const T*>(updates), counters);
  });
}

template <class T>
void ElementChecks::check_finite(const ElementPairs& pairs, const T* updates, TableCounters& counters) const {
  counters.checked_rows += pairs.size();
  if (all_finite(std::span(updates, pairs.size()))) return;
  const bool refuses = table_.definition().limits.not_finite == NotFinite::refuse;
  std::size_t first = pairs.size();
  for (std::size_t i = pairs.size(); i-- > 0;) {
    if (std::isfinite(updates[i])) continue;
    ++counters.not_finite_rows;
    first = i;
  }
  if (refuses) {
    throw NotFiniteUpdate("a push", table_.name(), pairs.key(first), pairs.indices[first],
                          static_cast<double>(updates[first]), rank_);
  }
}

}  // namespace lapse
