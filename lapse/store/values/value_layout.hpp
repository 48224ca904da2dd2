// The layout of a slot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/store/values/element_type.hpp"
#include "lapse/store/values/state_size.hpp"

namespace lapse {

// The slot contents that replicas on other domains need, by how their pushes are merged.
enum class Copies : std::uint8_t {
  none,         // the table is not replicated
  differences,  // the difference of value and state is sent
  gradients,    // the sum of the gradients is sent, with their number
};

//     | head | value: length elements | state of the rule | sum of gradients: length elements | padding |
//
// There is a head (SlotHead) only if keys can have replicas, and a sum of gradients only if replicas merge by
// gradients. Slots are padded to 16 bytes, so that vector loads are aligned and may run to the end of the
// slot. A slot's address is that of its value, after the head: it does not depend on the length. Value and
// state together are the content, which is sent when the key moves. Every size is given for a value of
// `length` elements, and without an argument for the table's own length.
struct ValueLayout {
  static constexpr std::size_t kSlotAlignment = 16;
  static constexpr std::size_t kHeadBytes = 16;

  ElementType type = ElementType::float32;
  std::size_t length = 0;  // elements of a value
  StateSize state = {};
  Copies copies = Copies::none;

  constexpr std::size_t state_elements(std::size_t elements) const { return state.elements(elements); }
  constexpr std::size_t value_bytes(std::size_t elements) const { return elements * element_bytes(type); }
  constexpr std::size_t content_bytes(std::size_t elements) const {
    return (elements + state_elements(elements)) * element_bytes(type);
  }
  // Bytes before the value.
  constexpr std::size_t head_bytes() const { return copies == Copies::none ? 0 : kHeadBytes; }
  // Bytes from the value to the sum of gradients, a multiple of the element size; the bytes of the sum.
  constexpr std::size_t sum_offset(std::size_t elements) const { return content_bytes(elements); }
  constexpr std::size_t sum_bytes(std::size_t elements) const {
    return copies == Copies::gradients ? value_bytes(elements) : 0;
  }
  constexpr std::size_t slot_bytes(std::size_t elements) const {
    const std::size_t bytes = head_bytes() + content_bytes(elements) + sum_bytes(elements);
    return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  }

  constexpr std::size_t state_elements() const { return state_elements(length); }
  constexpr std::size_t value_bytes() const { return value_bytes(length); }
  constexpr std::size_t content_bytes() const { return content_bytes(length); }
  constexpr std::size_t slot_bytes() const { return slot_bytes(length); }
};

}  // namespace lapse
