// What a table looks at in a push before its update rule sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// What becomes of a push or a set with elements that are infinite or not a number.
enum class NotFinite : std::uint8_t {
  allow,   // it is applied; nothing is looked at
  count,   // it is applied, and counted in the statistics of the table
  refuse,  // the call throws NotFiniteUpdate before anything of it is applied; counted, too
};
// "allow", "count", "refuse"; "unknown" for what is none of them.
LAPSE_EXPORT std::string_view not_finite_name(NotFinite what);

// The same on every rank. Immutable in a table.
struct LAPSE_EXPORT PushLimits {
  NotFinite not_finite = NotFinite::allow;
  // A push to a key whose L2 norm is larger is scaled down to it.
  std::optional<double> max_norm = {};

  bool any() const { return not_finite != NotFinite::allow || max_norm; }
  // Throws ConfigurationError, naming the table: limits for integers, a norm that is no number above 0, also
  // when it is rounded to the type.
  void check(std::string_view table, ElementType type) const;
};

}  // namespace lapse
