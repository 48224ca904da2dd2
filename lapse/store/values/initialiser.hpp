// The value of a key before its first push.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// A pure function of table seed and key, so that a table starts with the same values on any number of ranks.
// Random values are rounded towards zero for integer elements.
class LAPSE_EXPORT Initialiser {
 public:
  enum class Kind : std::uint8_t { zero, constant, uniform, normal, function };

  Initialiser() = default;
  static Initialiser zero() { return {}; }
  static Initialiser constant(double value) { return {Kind::constant, value, 0}; }
  // Uniform in [low, high).
  static Initialiser uniform(double low, double high) { return {Kind::uniform, low, high}; }
  static Initialiser normal(double mean, double standard_deviation) {
    return {Kind::normal, mean, standard_deviation};
  }
  // f(key, value) fills the value's elements. It must be pure and the same on every rank.
  template <Element T, class F>
  static Initialiser function(F f) {
    Initialiser initialiser(Kind::function, 0, 0);
    initialiser.function_type_ = element_type<T>();
    initialiser.function_ = [f = std::move(f)](Key key, std::byte* value, std::size_t length) {
      f(key, std::span<T>(reinterpret_cast<T*>(value), length));
    };
    return initialiser;
  }

  Kind kind() const { return kind_; }
  double first() const { return first_; }
  double second() const { return second_; }
  std::string to_string() const;

  // Throws ConfigurationError if it cannot fill elements of this type: low > high, a negative standard
  // deviation, non-finite numbers, a function made for another type.
  void check(ElementType type) const;

  // Fills the value of `key`: `length` elements of `type` at `value`.
  void fill(std::uint64_t seed, Key key, ElementType type, std::size_t length, std::byte* value) const;

 private:
  Initialiser(Kind kind, double first, double second) : kind_(kind), first_(first), second_(second) {}

  Kind kind_ = Kind::zero;
  double first_ = 0;
  double second_ = 0;
  ElementType function_type_ = ElementType::float32;
  std::function<void(Key, std::byte*, std::size_t)> function_;
};

}  // namespace lapse
