// The size of an update rule's state.
#pragma once

#include <cstddef>

namespace lapse {

// The size of a custom rule's state: any function of the value's length.
class CustomStateSize {
 public:
  virtual ~CustomStateSize() = default;
  virtual std::size_t state_elements(std::size_t length) const = 0;
};

// Elements of state for a value of `length` elements: linear in the length for the library's rules. Cheap to
// copy; if `custom` is set, the rule it was taken from must outlive it.
struct StateSize {
  std::size_t per_element = 0;
  std::size_t per_value = 0;
  const CustomStateSize* custom = nullptr;

  constexpr std::size_t elements(std::size_t length) const {
    return custom == nullptr ? per_element * length + per_value : custom->state_elements(length);
  }
};

}  // namespace lapse
