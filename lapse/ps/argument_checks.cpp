#include "lapse/ps/argument_checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {
// Positions of keys in a call, and of elements in its values, travel as 32 bits.
constexpr std::size_t kMaxPerCall = std::numeric_limits<std::uint32_t>::max();
}  // namespace

void ArgumentChecks::keys(const TableShard& table, std::span<const Key> keys) const {
  if (keys.size() > kMaxPerCall) {
    throw UsageError(
        fmt::format("a call on table '{}' with {} keys: at most {}", table.name(), keys.size(), kMaxPerCall));
  }
  if (table.store().is_sparse()) {
    // A home that does not exist is refused before the engine sees the key.
    if (table.definition().homes.kind() == HomeMapKind::custom) {
      for (const Key key : keys) static_cast<void>(table.definition().homes.home(key));
    }
    return;
  }
  for (const Key key : keys) {
    if (!table.store().has(key)) throw KeyOutOfRange(table.name(), key, table.store().keys(), rank_);
  }
}

void ArgumentChecks::lengths(const TableShard& table, std::span<const Key> keys) const {
  if (!table.store().is_sparse() || table.store().sizes().uniform()) return;
  for (const Key key : keys) static_cast<void>(table.store().sizes().length(key));
}

void ArgumentChecks::elements(const TableShard& table, std::span<const Key> keys, std::string_view what,
                              std::size_t elements) const {
  const ValueSizes& sizes = table.store().sizes();
  std::size_t expected = 0;
  if (sizes.uniform()) {
    expected = keys.size() * sizes.layout().length;
  } else {
    for (const Key key : keys) expected += sizes.length(key);
  }
  count(table, what, elements, expected);
  if (elements > kMaxPerCall) {
    throw UsageError(fmt::format("a call on table '{}' with {} elements: at most {}", table.name(), elements,
                                 kMaxPerCall));
  }
}

void ArgumentChecks::count(const TableShard& table, std::string_view what, std::size_t given,
                           std::size_t expected) const {
  if (given != expected) throw LengthMismatch(table.name(), what, given, expected, rank_);
}

void ArgumentChecks::scale(const TableShard& table, float scale) const {
  if (scale == 1.0F) return;
  if (!table.definition().rule.accepts_scale() || !std::isfinite(scale)) {
    throw UsageError(
        fmt::format("a push to table '{}' with scale {} on rank {}: {}", table.name(), scale, rank_.value(),
                    table.definition().rule.accepts_scale() ? "it must be finite"
                                                            : "its update rule has no learning rate"));
  }
}

}  // namespace lapse
