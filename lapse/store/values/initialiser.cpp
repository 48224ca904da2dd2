#include "lapse/store/values/initialiser.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse {

namespace {

// Integers are rounded towards zero and clamped to the limits of their type, which a normal distribution may
// exceed.
template <Element T>
T to_element(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (value <= static_cast<double>(std::numeric_limits<T>::lowest()))
      return std::numeric_limits<T>::lowest();
  }
  return static_cast<T>(value);
}

}  // namespace

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
  const bool is_floating = type == ElementType::float32 || type == ElementType::float64;
  const bool fits = visit_element(type, [this](auto element) {
    using Limits = std::numeric_limits<decltype(element)>;
    const auto inside = [](double value) {
      return value >= static_cast<double>(Limits::lowest()) && value <= static_cast<double>(Limits::max());
    };
    // The largest 64-bit integers are not doubles: the bound above is 2^63, one too large.
    const bool integer_top = Limits::is_integer && (first_ >= 0x1p63 || second_ >= 0x1p63);
    return inside(first_) && inside(second_) && !integer_top && std::isfinite(second_ - first_);
  });
  if (!fits) {
    throw ConfigurationError(fmt::format("initialiser {}: its values do not fit elements of type {}",
                                         to_string(), element_name(type)));
  }
  if (kind_ == Kind::constant && first_ != std::trunc(first_) && !is_floating) {
    throw ConfigurationError(fmt::format("initialiser {}: elements of type {} are whole numbers", to_string(),
                                         element_name(type)));
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

void Initialiser::fill(std::uint64_t seed, Key key, ElementType type, std::size_t length,
                       std::byte* value) const {
  if (kind_ == Kind::function) {
    function_(key, value, length);
    return;
  }
  visit_element(type, [&](auto element) {
    using T = decltype(element);
    T* elements = reinterpret_cast<T*>(value);
    const PositionalRandom random(seed);
    for (std::size_t i = 0; i < length; ++i) {
      switch (kind_) {
        case Kind::uniform:
          elements[i] = to_element<T>(first_ + (second_ - first_) * random.uniform(key, i));
          break;
        case Kind::normal:
          elements[i] = to_element<T>(first_ + second_ * random.normal(key, i));
          break;
        default:
          elements[i] = to_element<T>(first_);
          break;
      }
    }
  });
}

}  // namespace lapse
