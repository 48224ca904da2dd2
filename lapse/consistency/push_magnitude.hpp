// How much a push changes a value.
#pragma once

#include <cstddef>

#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// Whether the change that a push makes follows from the push alone: rules that add, SGD without l2, Adagrad.
bool bounds_changes(const UpdateRule& rule);

// Returns a bound of the largest change of an element by a push of these elements: the update itself for
// rules that add; times the learning rate for SGD; the learning rate for Adagrad, however large the gradient.
// Infinite if an update is not a number. `repeats`: several updates may be of the same element. Requires
// bounds_changes().
double push_magnitude(const UpdateRule& rule, ElementType type, const std::byte* updates,
                      std::size_t elements, float scale, bool repeats = false);

}  // namespace lapse
