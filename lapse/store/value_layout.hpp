// The layout of a slot.
#pragma once

#include <cstddef>

#include "lapse/store/element_type.hpp"
#include "lapse/store/state_size.hpp"

namespace lapse {

//     | value: length elements | state of the update rule: elements of the same type | padding to 16 bytes |
//
// so that vector loads are aligned and may run to the end of the slot. Value and state together are the
// content: what travels when the key moves. Every size is given for a value of `length` elements, and without
// an argument for the table's own length.
struct ValueLayout {
  static constexpr std::size_t kSlotAlignment = 16;

  ElementType type = ElementType::float32;
  std::size_t length = 0;  // elements of a value
  StateSize state = {};

  constexpr std::size_t state_elements(std::size_t elements) const { return state.elements(elements); }
  constexpr std::size_t value_bytes(std::size_t elements) const { return elements * element_bytes(type); }
  constexpr std::size_t content_bytes(std::size_t elements) const {
    return (elements + state_elements(elements)) * element_bytes(type);
  }
  constexpr std::size_t slot_bytes(std::size_t elements) const {
    return (content_bytes(elements) + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  }

  constexpr std::size_t state_elements() const { return state_elements(length); }
  constexpr std::size_t value_bytes() const { return value_bytes(length); }
  constexpr std::size_t content_bytes() const { return content_bytes(length); }
  constexpr std::size_t slot_bytes() const { return slot_bytes(length); }
};

}  // namespace lapse
