#include "lapse/store/values/push_limits.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lapse/core/error.hpp"

namespace lapse {

std::string_view not_finite_name(NotFinite what) {
  switch (what) {
    case NotFinite::allow:
      return "allow";
    case NotFinite::count:
      return "count";
    case NotFinite::refuse:
      return "refuse";
  }
  return "unknown";
}

namespace {

bool is_positive(double norm, ElementType type) {
  const double rounded = type == ElementType::float32 ? static_cast<double>(static_cast<float>(norm)) : norm;
  return std::isfinite(rounded) && rounded > 0;
}

}  // namespace

void PushLimits::check(std::string_view table, ElementType type) const {
  if (!any()) return;
  if (type != ElementType::float32 && type != ElementType::float64) {
    throw ConfigurationError(
        fmt::format("table '{}': {} needs elements of type float or double, the table has {}", table,
                    max_norm ? "max_push_norm" : "not_finite", element_name(type)));
  }
  if (not_finite_name(not_finite) == "unknown") {
    throw ConfigurationError(fmt::format("table '{}': not_finite is {}: expected allow, count or refuse",
                                         table, static_cast<int>(not_finite)));
  }
  if (max_norm && !is_positive(*max_norm, type)) {
    throw ConfigurationError(fmt::format(
        "table '{}': max_push_norm is {} for elements of type {}: expected a finite number above 0", table,
        *max_norm, element_name(type)));
  }
}

}  // namespace lapse
