#include "lapse/store/update_rules/parameter_check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lapse/core/error.hpp"

namespace lapse {

ParameterCheck::ParameterCheck(std::string rule, ElementType type) : rule_(std::move(rule)), type_(type) {
  if (type != ElementType::float32 && type != ElementType::float64) {
    throw ConfigurationError(
        fmt::format("update rule {}: it needs elements of type float or double, the table has {}", rule_,
                    element_name(type)));
  }
}

double ParameterCheck::rounded(double value) const {
  return type_ == ElementType::float32 ? static_cast<double>(static_cast<float>(value)) : value;
}

void ParameterCheck::require(bool condition, std::string_view parameter, double value,
                             std::string_view expected) const {
  if (condition) return;
  throw ConfigurationError(fmt::format("update rule {}: {} is {} for elements of type {}: expected {}", rule_,
                                       parameter, value, element_name(type_), expected));
}

void ParameterCheck::not_negative(std::string_view parameter, double value) const {
  require(std::isfinite(rounded(value)) && value >= 0, parameter, value, "a finite number, 0 or more");
}

void ParameterCheck::positive(std::string_view parameter, double value) const {
  require(std::isfinite(rounded(value)) && rounded(value) > 0, parameter, value, "a finite number above 0");
}

void ParameterCheck::below_one(std::string_view parameter, double value) const {
  require(value >= 0 && rounded(value) < 1, parameter, value, "at least 0 and below 1");
}

}  // namespace lapse
