// Checks of a rule's parameters.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "lapse/store/values/element_type.hpp"

namespace lapse {

// Every check throws ConfigurationError naming the rule, the parameter, its value and the expectation. A
// parameter must keep its property when rounded to the table's element type.
class ParameterCheck {
 public:
  // Throws ConfigurationError for element types other than float and double.
  ParameterCheck(std::string rule, ElementType type);

  // Finite and at least 0.
  void not_negative(std::string_view parameter, double value) const;
  // Finite and above 0.
  void positive(std::string_view parameter, double value) const;
  // At least 0 and below 1.
  void below_one(std::string_view parameter, double value) const;
  void require(bool condition, std::string_view parameter, double value, std::string_view expected) const;
  // The value rounded to the table's element type.
  double rounded(double value) const;

 private:
  std::string rule_;
  ElementType type_;
};

}  // namespace lapse
