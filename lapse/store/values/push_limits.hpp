// Checks of a push before the table's update rule sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// The treatment of a push or set with infinite or NaN elements.
enum class NotFinite : std::uint8_t {
  allow,   // apply it; check nothing
  count,   // apply it, and count it in the table's statistics
  refuse,  // throw NotFiniteUpdate before any of it is applied; count it, too
};
// "allow", "count", "refuse"; "unknown" for other values.
LAPSE_EXPORT std::string_view not_finite_name(NotFinite what);

// The same on every rank. Immutable in a table.
struct LAPSE_EXPORT PushLimits {
  NotFinite not_finite = NotFinite::allow;
  // A push to a key is scaled down to this L2 norm if its own is larger.
  std::optional<double> max_norm = {};

  bool any() const { return not_finite != NotFinite::allow || max_norm; }
  // Throws ConfigurationError, naming the table, for limits on integers, and for a norm that is not a number
  // above 0, also after rounding to the type.
  void check(std::string_view table, ElementType type) const;
};

}  // namespace lapse
