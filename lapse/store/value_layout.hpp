// Where things lie in a slot.
#pragma once

#include <cstddef>

#include "lapse/store/element_type.hpp"

namespace lapse {

// A slot holds the value, then the state of the update rule (none for add and assign), padded to 16 bytes, so
// that vector loads are aligned and may run to the end of the slot.
struct ValueLayout {
  static constexpr std::size_t kSlotAlignment = 16;

  ElementType type = ElementType::float32;
  std::size_t length = 0;  // elements of a value

  constexpr std::size_t value_bytes() const { return length * element_bytes(type); }
  constexpr std::size_t slot_bytes() const {
    return (value_bytes() + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  }
};

}  // namespace lapse
