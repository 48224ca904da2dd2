#include "lapse/ps/access/argument_checks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lapse/core/error.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse {

// Kept out of the header, so that headers for programs do not include the table of limits.
static_assert(ParameterServer::kMaxWorkers == limits::kWorkersOfRank);
static_assert(kMaxFunctionBytes == limits::kFunctionBytes);

void ArgumentChecks::keys(const TableShard& table, std::span<const Key> keys) const {
  if (keys.size() > limits::kKeysOfCall) {
    throw UsageError(fmt::format("a call on table '{}' with {} keys on rank {}: at most {}", table.name(),
                                 keys.size(), rank_.value(), limits::kKeysOfCall));
  }
  if (table.store().is_sparse()) {
    // Refuses a home that does not exist before the engine sees the key.
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
  if (elements > limits::kElementsOfCall) {
    throw UsageError(fmt::format("a call on table '{}' with {} elements on rank {}: at most {}", table.name(),
                                 elements, rank_.value(), limits::kElementsOfCall));
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
