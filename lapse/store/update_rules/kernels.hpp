// Arithmetic over arrays, with the processor's vector instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "lapse/store/values/element_type.hpp"

namespace lapse {

// Instruction sets that the kernels exist for. Compilers other than GCC and Clang, and architectures other
// than x86-64, have only the portable ones.
enum class Isa : std::uint8_t { portable, avx2, avx512 };
constexpr std::array<Isa, 3> kAllIsas{Isa::portable, Isa::avx2, Isa::avx512};

std::string_view isa_name(Isa isa);
// Whether this build has kernels for it and this processor can run them.
bool isa_available(Isa isa);
// The widest available.
Isa best_isa();

// The inner loop of an update rule: changes the value, and the state after it, in place. `parameters` is the
// rule's.
using RuleLoop = void (*)(const void* parameters, std::byte* value, const std::byte* update,
                          std::size_t elements, float scale);

// Pushes to single elements of a value of `length` elements, one after the other, for rules that treat each
// element by itself: update i applies to element indices[i], which is below `length`, and to its state. Each
// push gives the bits that the rule's RuleLoop gives for that element.
using ElementLoop = void (*)(const void* parameters, std::byte* value, std::size_t length,
                             const std::uint32_t* indices, const std::byte* updates, std::size_t count,
                             float scale);

// Arithmetic of replicas that merge by differences, over value and state together. Both functions compare
// bits, so that a NaN equals itself, and return whether any element of value differed from that of base.
//
// out = value - base, exactly 0 if both are equal; base = value
using DifferenceRebase = bool (*)(const std::byte* value, std::byte* base, std::byte* out,
                                  std::size_t elements);
// value = main + (value - base), exactly main if value and base are equal; base = main
using MergeRefresh = bool (*)(std::byte* value, std::byte* base, const std::byte* main, std::size_t elements);

// The kernels of one element type and instruction set.
//
// Every kernel gives the same bits with every instruction set (except which NaN results): products are
// rounded before they are added, never fused, and `dot` has a fixed order of summation. Pointers need only an
// element's alignment; arrays that are written must not overlap others. Integers wrap around.
//
// Rules for gradients, and checks for non-finite numbers, exist only for float and double: null for integers.
template <Element T>
struct Kernels {
  void (*add)(T* value, const T* update, std::size_t elements);             // value += update
  void (*axpy)(T* value, T factor, const T* update, std::size_t elements);  // value += factor * update
  T (*dot)(const T* a, const T* b, std::size_t elements);                   // sum of a * b

  DifferenceRebase difference_rebase;
  MergeRefresh merge_refresh;

  // True if no element is infinite or NaN.
  bool (*all_finite)(const T* values, std::size_t elements);

  RuleLoop add_rule;
  RuleLoop assign_rule;
  RuleLoop sgd;
  RuleLoop adagrad;
  RuleLoop rowwise_adagrad;
  RuleLoop adam;
  RuleLoop ftrl;

  // Equal for all instruction sets.
  ElementLoop add_elements;
  ElementLoop sgd_elements;
  ElementLoop adagrad_elements;
  ElementLoop ftrl_elements;
};

// Throws UsageError if the instruction set is not available.
template <Element T>
const Kernels<T>& kernels_for(Isa isa);

// The kernels for this processor.
template <Element T>
const Kernels<T>& kernels() {
  static const Kernels<T>& chosen = kernels_for<T>(best_isa());
  return chosen;
}

namespace detail {

// Throws UsageError.
[[noreturn]] void lengths_differ(std::string_view function, std::size_t first, std::size_t second);

template <Element T>
void add(std::span<T> y, std::span<const T> x) {
  if (x.size() != y.size()) lengths_differ("add", y.size(), x.size());
  kernels<T>().add(y.data(), x.data(), y.size());
}
template <Element T>
void axpy(T a, std::span<const T> x, std::span<T> y) {
  if (x.size() != y.size()) lengths_differ("axpy", x.size(), y.size());
  kernels<T>().axpy(y.data(), a, x.data(), y.size());
}
template <Element T>
T dot(std::span<const T> a, std::span<const T> b) {
  if (a.size() != b.size()) lengths_differ("dot", a.size(), b.size());
  return kernels<T>().dot(a.data(), b.data(), a.size());
}

}  // namespace detail

// For applications. Throw UsageError if the lengths differ; x and y must not overlap.

// y += x
inline void add(std::span<float> y, std::span<const float> x) {
  detail::add(y, x);
}
inline void add(std::span<double> y, std::span<const double> x) {
  detail::add(y, x);
}
inline void add(std::span<std::int32_t> y, std::span<const std::int32_t> x) {
  detail::add(y, x);
}
inline void add(std::span<std::int64_t> y, std::span<const std::int64_t> x) {
  detail::add(y, x);
}

// y += a * x
inline void axpy(float a, std::span<const float> x, std::span<float> y) {
  detail::axpy(a, x, y);
}
inline void axpy(double a, std::span<const double> x, std::span<double> y) {
  detail::axpy(a, x, y);
}
inline void axpy(std::int32_t a, std::span<const std::int32_t> x, std::span<std::int32_t> y) {
  detail::axpy(a, x, y);
}
inline void axpy(std::int64_t a, std::span<const std::int64_t> x, std::span<std::int64_t> y) {
  detail::axpy(a, x, y);
}

// The sum of a[i] * b[i]
inline float dot(std::span<const float> a, std::span<const float> b) {
  return detail::dot(a, b);
}
inline double dot(std::span<const double> a, std::span<const double> b) {
  return detail::dot(a, b);
}
inline std::int32_t dot(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return detail::dot(a, b);
}
inline std::int64_t dot(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return detail::dot(a, b);
}

// Whether no element is infinite or NaN; true if there is none. Reads all elements, at about memory speed.
inline bool all_finite(std::span<const float> values) {
  return kernels<float>().all_finite(values.data(), values.size());
}
inline bool all_finite(std::span<const double> values) {
  return kernels<double>().all_finite(values.data(), values.size());
}

}  // namespace lapse
