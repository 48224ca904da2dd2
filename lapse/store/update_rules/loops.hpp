// The inner loops of the kernels, compiled once per instruction set. Included only by kernels.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lapse/store/update_rules/kernels.hpp"
#include "lapse/store/update_rules/optimisers.hpp"
#include "lapse/store/update_rules/sum_loops.hpp"

namespace lapse::loops {

// The rules without parameters.
struct Add {};
struct Assign {};

template <class T>
LAPSE_KERNEL_BODY void add(T* __restrict value, const T* __restrict update, std::size_t elements) {
  using W = Wrapping<T>;
  for (std::size_t i = 0; i < elements; ++i) {
    value[i] = static_cast<T>(static_cast<W>(value[i]) + static_cast<W>(update[i]));
  }
}

template <class T>
LAPSE_KERNEL_BODY void axpy(T* __restrict value, T factor, const T* __restrict update, std::size_t elements) {
  using W = Wrapping<T>;
  const W a = static_cast<W>(factor);
  for (std::size_t i = 0; i < elements; ++i) {
    value[i] = static_cast<T>(static_cast<W>(value[i]) + a * static_cast<W>(update[i]));
  }
}

// Floating-point numbers as bits: equal bits are equal, including those of NaNs.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// The difference of value and base: 0 if their bits are equal, which subtraction alone would not give for
// infinities. The comparison selects; it does not branch.
template <class T>
LAPSE_KERNEL_BODY bool difference_rebase(const T* __restrict value, T* __restrict base, T* __restrict out,
                                         std::size_t elements) {
  using W = Wrapping<T>;
  Bits<T> differing = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const Bits<T> differs = std::bit_cast<Bits<T>>(value[i]) ^ std::bit_cast<Bits<T>>(base[i]);
    const T difference = static_cast<T>(static_cast<W>(value[i]) - static_cast<W>(base[i]));
    out[i] = differs == 0 ? T{0} : difference;
    base[i] = value[i];
    differing |= differs;
  }
  return differing != 0;
}

template <class T>
LAPSE_KERNEL_BODY bool merge_refresh(T* __restrict value, T* __restrict base, const T* __restrict main,
                                     std::size_t elements) {
  using W = Wrapping<T>;
  Bits<T> differing = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const Bits<T> differs = std::bit_cast<Bits<T>>(value[i]) ^ std::bit_cast<Bits<T>>(base[i]);
    const W difference = static_cast<W>(value[i]) - static_cast<W>(base[i]);
    const T merged = static_cast<T>(static_cast<W>(main[i]) + difference);
    value[i] = differs == 0 ? main[i] : merged;
    base[i] = main[i];
    differing |= differs;
  }
  return differing != 0;
}

template <std::size_t kRegister, class T>
LAPSE_KERNEL_BODY T dot(const T* a, const T* b, std::size_t elements) {
  using W = Wrapping<T>;
  return static_cast<T>(
      sum<kRegister>(Product(), reinterpret_cast<const W*>(a), reinterpret_cast<const W*>(b), elements));
}

// A number is non-finite exactly if all bits of its exponent are set. Adding the lowest of these bits then
// carries into the sign bit, which was cleared; so one bit of the union answers for all elements.
template <class T>
LAPSE_KERNEL_BODY bool all_finite(const T* elements, std::size_t count) {
  using B = Bits<T>;
  constexpr B kSign = B{1} << (8 * sizeof(B) - 1);
  constexpr B kExponentStep = B{1} << (std::numeric_limits<T>::digits - 1);
  B carries = 0;
  for (std::size_t i = 0; i < count; ++i) {
    carries |= (std::bit_cast<B>(elements[i]) & ~kSign) + kExponentStep;
  }
  return (carries & kSign) == 0;
}

template <std::size_t, class T>
LAPSE_KERNEL_BODY void run(const Add&, T* value, const T* update, std::size_t elements, float scale) {
  if constexpr (std::is_floating_point_v<T>) {
    if (scale != 1.0F) return axpy(value, static_cast<T>(scale), update, elements);
  }
  add(value, update, elements);
}

template <std::size_t, class T>
LAPSE_KERNEL_BODY void run(const Assign&, T* value, const T* update, std::size_t elements, float) {
  // The pointers of an empty value may be null.
  if (elements != 0) std::memcpy(value, update, elements * sizeof(T));
}

template <std::size_t, class T>
LAPSE_KERNEL_BODY void run(const Sgd& rule, T* __restrict value, const T* __restrict gradient,
                           std::size_t elements, float scale) {
  const T rate = static_cast<T>(rule.learning_rate * scale);
  const T l2 = static_cast<T>(rule.l2);
  for (std::size_t i = 0; i < elements; ++i) value[i] -= rate * (gradient[i] + l2 * value[i]);
}

template <std::size_t, class T>
LAPSE_KERNEL_BODY void run(const Adagrad& rule, T* __restrict value, const T* __restrict gradient,
                           std::size_t elements, float scale) {
  const T rate = static_cast<T>(rule.learning_rate * scale);
  const T l2 = static_cast<T>(rule.l2);
  const T epsilon = static_cast<T>(rule.epsilon);
  T* __restrict accumulator = value + elements;
  for (std::size_t i = 0; i < elements; ++i) {
    const T g = gradient[i] + l2 * value[i];
    accumulator[i] += g * g;
    value[i] -= rate * g / (std::sqrt(accumulator[i]) + epsilon);
  }
}

template <std::size_t kRegister, class T>
LAPSE_KERNEL_BODY void run(const RowwiseAdagrad& rule, T* __restrict value, const T* __restrict gradient,
                           std::size_t elements, float scale) {
  const T l2 = static_cast<T>(rule.l2);
  const T squares =
      sum<kRegister>(RegularisedSquare<T>{l2}, gradient, static_cast<const T*>(value), elements);
  T& accumulator = value[elements];
  accumulator += squares / static_cast<T>(elements);
  const T step =
      static_cast<T>(rule.learning_rate * scale) / (std::sqrt(accumulator) + static_cast<T>(rule.epsilon));
  for (std::size_t i = 0; i < elements; ++i) value[i] -= step * (gradient[i] + l2 * value[i]);
}

// 1 - beta^steps, by squaring: unlike std::pow, the same bits on every machine. beta^steps is below
// e^-((1 - beta) * steps), and a difference from 1 of less than e^-40 is rounded away.
LAPSE_KERNEL_BODY double one_minus_power(double beta, double steps) {
  if ((1 - beta) * steps > 40) return 1;
  double power = 1;
  for (auto bits = static_cast<std::uint64_t>(steps); bits != 0; bits >>= 1) {
    power *= bits & 1 ? beta : 1;
    beta *= beta;
  }
  return 1 - power;
}

template <std::size_t, class T>
LAPSE_KERNEL_BODY void run(const Adam& rule, T* __restrict value, const T* __restrict gradient,
                           std::size_t elements, float scale) {
  T* __restrict mean = value + elements;
  T* __restrict square = mean + elements;
  T& steps = square[elements];
  steps += T{1};
  const T rate = static_cast<T>(rule.learning_rate * scale);
  const T l2 = static_cast<T>(rule.l2);
  const T epsilon = static_cast<T>(rule.epsilon);
  const T beta1 = static_cast<T>(rule.beta1);
  const T beta2 = static_cast<T>(rule.beta2);
  const T new1 = static_cast<T>(1 - rule.beta1);
  const T new2 = static_cast<T>(1 - rule.beta2);
  const T unbias1 = static_cast<T>(1 / one_minus_power(rule.beta1, static_cast<double>(steps)));
  const T unbias2 = static_cast<T>(1 / one_minus_power(rule.beta2, static_cast<double>(steps)));
  for (std::size_t i = 0; i < elements; ++i) {
    const T g = gradient[i] + l2 * value[i];
    mean[i] = beta1 * mean[i] + new1 * g;
    square[i] = beta2 * square[i] + new2 * (g * g);
    value[i] -= rate * (mean[i] * unbias1) / (std::sqrt(square[i] * unbias2) + epsilon);
  }
}

template <std::size_t, class T>
LAPSE_KERNEL_BODY void run(const Ftrl& rule, T* __restrict value, const T* __restrict gradient,
                           std::size_t elements, float scale) {
  const T per_alpha = static_cast<T>(1 / rule.alpha);
  const T floor = static_cast<T>(rule.beta / rule.alpha + rule.l2);
  const T l1 = static_cast<T>(rule.l1);
  const T z_scale = static_cast<T>(scale);
  T* __restrict z = value + elements;
  T* __restrict n = z + elements;
  for (std::size_t i = 0; i < elements; ++i) {
    const T g = gradient[i];
    const T squares = n[i] + g * g;
    const T root = std::sqrt(squares);
    const T sigma = (root - std::sqrt(n[i])) * per_alpha;
    const T dual = z[i] + (z_scale * g - sigma * value[i]);
    const T weight = (std::copysign(l1, dual) - dual) / (root * per_alpha + floor);
    n[i] = squares;
    z[i] = dual;
    value[i] = std::fabs(dual) <= l1 ? T{0} : weight;
  }
}

// Pushes to single elements: the loop of the rule runs on a copy of the element and its state, of which there
// are `kStates` for each element.
template <std::size_t kStates, class Rule, class T>
LAPSE_KERNEL_BODY void run_elements(const Rule& rule, T* value, std::size_t length,
                                    const std::uint32_t* indices, const T* updates, std::size_t count,
                                    float scale) {
  constexpr std::size_t kRegister = 16;
  for (std::size_t i = 0; i < count; ++i) {
    T* const element = value + indices[i];
    T content[1 + kStates];
    for (std::size_t s = 0; s <= kStates; ++s) content[s] = element[s * length];
    run<kRegister>(rule, content, updates + i, 1, scale);
    for (std::size_t s = 0; s <= kStates; ++s) element[s * length] = content[s];
  }
}

}  // namespace lapse::loops
