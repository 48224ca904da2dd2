// How pushes to replicas are merged.
#pragma once

#include <cstdint>

namespace lapse {

// How pushes to replicas of a value are merged at its owner.
enum class Merge : std::uint8_t {
  // A holder applies the rule to its replica; the difference of the whole slot is sent, and the owner adds
  // it. So each element of value and state must be a sum of the pushes' contributions.
  additive_slot,
  // Gradients are summed and sent with their count; the owner applies the rule once for the sum.
  gradient,
  // Pushes do not commute: such a table is never replicated.
  none,
};

}  // namespace lapse
