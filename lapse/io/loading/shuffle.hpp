// Random permutations that do not depend on the standard library's implementation.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "lapse/core/random.hpp"

namespace lapse::io {

// Fisher and Yates: every order is equally likely.
template <class T>
void shuffle(std::span<T> values, RandomEngine& random) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[random.below(left)]);
}

}  // namespace lapse::io
