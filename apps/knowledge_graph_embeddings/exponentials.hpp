// Exponentials of many scores, with the vector instructions that the processor has.
#pragma once

#include <span>

#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

// The largest of the numbers, which are not empty; numbers that are none are passed over.
float largest(std::span<const float> numbers, Isa isa = best_isa());

// Replaces each number x by exp(x - shift) and returns the sum of the results. A result is exact to a few
// units in its last place; below exp(-87) it is exp(-87), not 0. Every instruction set gives the same bits.
float exponentiate(std::span<float> numbers, float shift, Isa isa = best_isa());

}  // namespace lapse::apps
