// Sums over arrays whose order does not depend on the instruction set. Included only by loops.hpp.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

// Inlined into a function that names the instruction set, a loop is compiled for that set.
#define LAPSE_KERNEL_BODY [[gnu::always_inline]] inline

namespace lapse::loops {

// Integers that wrap around instead of overflowing.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// Partial sums of `kBytes` bytes, in vector registers of at most `kRegister` bytes.
template <class T, std::size_t kBytes, std::size_t kRegister>
struct Lanes {
  static constexpr std::size_t kVector = kBytes < kRegister ? kBytes : kRegister;
  static constexpr std::size_t kVectors = kBytes / kVector;
  static constexpr std::size_t kCount = kBytes / sizeof(T);
  using Vector [[gnu::vector_size(kVector)]] = T;

  Vector part[kVectors] = {};

  // Adds the terms of kCount elements, one to each lane.
  template <class Term>
  LAPSE_KERNEL_BODY void add(const Term& term, const T* a, const T* b) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      Vector x;
      Vector y;
      std::memcpy(&x, a + v * kVector / sizeof(T), sizeof x);
      std::memcpy(&y, b + v * kVector / sizeof(T), sizeof y);
      term.add(part[v], x, y);
    }
  }

  // Adds the upper half of the lanes to the lower one.
  LAPSE_KERNEL_BODY void halve(Lanes<T, kBytes / 2, kRegister>& to) const {
    if constexpr (kVectors > 1) {
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors / 2; ++v) to.part[v] = part[v] + part[v + kVectors / 2];
    } else {
      typename Lanes<T, kBytes / 2, kRegister>::Vector half[2];
      std::memcpy(half, part, sizeof half);
      to.part[0] = half[0] + half[1];
    }
  }
};

// The sum of the lanes and the terms of the remaining elements, fewer than kCount * 2.
template <class T, std::size_t kBytes, std::size_t kRegister, class Term>
LAPSE_KERNEL_BODY T finish(Lanes<T, kBytes, kRegister>& lanes, const Term& term, const T* a, const T* b,
                           std::size_t left) {
  constexpr std::size_t kCount = kBytes / sizeof(T);
  if (left & kCount) {
    lanes.add(term, a, b);
    a += kCount;
    b += kCount;
  }
  if constexpr (kCount == 1) {
    return lanes.part[0][0];
  } else {
    Lanes<T, kBytes / 2, kRegister> half;
    lanes.halve(half);
    return finish(half, term, a, b, left);
  }
}

// The sum of a term per element. Element i of the whole blocks of 128 bytes goes to lane i modulo the lanes;
// then the lanes are halved down to one, and the remaining elements join on the way in blocks of 64, 32, ...
// bytes.
template <std::size_t kRegister, class Term, class T>
LAPSE_KERNEL_BODY T sum(const Term& term, const T* a, const T* b, std::size_t elements) {
  using Block = Lanes<T, 128, kRegister>;
  Block lanes;
  for (; elements >= Block::kCount; elements -= Block::kCount) {
    lanes.add(term, a, b);
    a += Block::kCount;
    b += Block::kCount;
  }
  Lanes<T, 64, kRegister> half;
  lanes.halve(half);
  return finish(half, term, a, b, elements);
}

struct Product {
  template <class V>
  LAPSE_KERNEL_BODY void add(V& sum, const V& a, const V& b) const {
    sum += a * b;
  }
};

// (gradient + l2 * value)^2
template <class T>
struct RegularisedSquare {
  T l2;
  template <class V>
  LAPSE_KERNEL_BODY void add(V& sum, const V& gradient, const V& value) const {
    const V g = gradient + l2 * value;
    sum += g * g;
  }
};

}  // namespace lapse::loops
