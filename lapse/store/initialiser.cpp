#include "lapse/store/initialiser.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse {

std::string Initialiser::to_string() const {
  switch (kind_) {
    case Kind::zero:
      return "zero";
    case Kind::constant:
      return fmt::format("constant({})", first_);
    case Kind::uniform:
      return fmt::format("uniform({}, {})", first_, second_);
    case Kind::normal:
      return fmt::format("normal({}, {})", first_, second_);
    case Kind::function:
      break;
  }
  return "function";
}

void Initialiser::check(ElementType type) const {
  if (!std::isfinite(first_) || !std::isfinite(second_)) {
    throw ConfigurationError(fmt::format("initialiser {}: its parameters must be finite", to_string()));
  }
  if (kind_ == Kind::uniform && first_ > second_) {
    throw ConfigurationError(
        fmt::format("initialiser {}: the lower bound exceeds the upper one", to_string()));
  }
  if (kind_ == Kind::normal && second_ < 0) {
    throw ConfigurationError(fmt::format("initialiser {}: the standard deviation is negative", to_string()));
  }
  if (kind_ == Kind::function && function_type_ != type) {
    throw ConfigurationError(
        fmt::format("the initialiser is a function for elements of type {}, the table has {}",
                    element_name(function_type_), element_name(type)));
  }
}

void Initialiser::fill(std::uint64_t seed, Key key, const ValueLayout& layout, std::byte* value) const {
  if (kind_ == Kind::function) {
    function_(key, value, layout.length);
    return;
  }
  visit_element(layout.type, [&](auto element) {
    using T = decltype(element);
    T* elements = reinterpret_cast<T*>(value);
    const PositionalRandom random(seed);
    for (std::size_t i = 0; i < layout.length; ++i) {
      switch (kind_) {
        case Kind::uniform:
          elements[i] = static_cast<T>(first_ + (second_ - first_) * random.uniform(key, i));
          break;
        case Kind::normal:
          elements[i] = static_cast<T>(first_ + second_ * random.normal(key, i));
          break;
        default:
          elements[i] = static_cast<T>(first_);
          break;
      }
    }
  });
}

}  // namespace lapse
