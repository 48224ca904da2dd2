// Exponentials of many scores, with the processor's vector instructions.
#pragma once

#include <span>

#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

// The largest of the numbers; skips NaN. Requires at least one number.
float largest(std::span<const float> numbers, Isa isa = best_isa());

// Replaces each number x by exp(x - shift) and returns the sum. Results are exact to a few units in the last
// place, and at least exp(-87). Every instruction set gives the same bits.
float exponentiate(std::span<float> numbers, float shift, Isa isa = best_isa());

}  // namespace lapse::apps
