// The element types of tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace lapse {

enum class ElementType : std::uint8_t { float32, float64, int32, int64 };

template <class T>
concept Element = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> ||
    std::is_same_v<T, std::int64_t>;

template <Element T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, float>) return ElementType::float32;
  if constexpr (std::is_same_v<T, double>) return ElementType::float64;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::int64;
}

constexpr std::size_t element_bytes(ElementType type) {
  return type == ElementType::float32 || type == ElementType::int32 ? 4 : 8;
}

constexpr std::string_view element_name(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "float";
    case ElementType::float64:
      return "double";
    case ElementType::int32:
      return "int32";
    case ElementType::int64:
      return "int64";
  }
  return "unknown";
}

// Calls f with a value of the C++ type for `type`.
template <class F>
decltype(auto) visit_element(ElementType type, F&& f) {
  switch (type) {
    case ElementType::float32:
      return f(float{});
    case ElementType::float64:
      return f(double{});
    case ElementType::int32:
      return f(std::int32_t{});
    case ElementType::int64:
      break;
  }
  return f(std::int64_t{});
}

// value[i] += update[i], compiled in place for the shortest path to one key. Integers wrap around.
template <Element T>
inline void add_elements(T* value, const T* update, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      value[i] = static_cast<T>(static_cast<Unsigned>(value[i]) + static_cast<Unsigned>(update[i]));
    } else {
      value[i] += update[i];
    }
  }
}

}  // namespace lapse
