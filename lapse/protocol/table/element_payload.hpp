// What an operation on single elements of a value carries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lapse/protocol/table/operation_kind.hpp"
#include "lapse/store/row_elements.hpp"

namespace lapse {

// The payload of an operation on elements of one key, as the worker writes it, and as it is queued and sent:
//
//   pull_elements   | count u32 | count × index u32 |
//   push_elements   | count u32 | count × index u32 | padding | count × update |
//
// The padding fills up to a multiple of an element's size: updates are read in place.
struct ElementPayload {
  static constexpr std::size_t kCountBytes = sizeof(std::uint32_t);

  // Offset of the updates.
  static constexpr std::size_t updates_at(std::size_t count, std::size_t element_bytes) {
    const std::size_t head = kCountBytes + count * sizeof(std::uint32_t);
    return (head + element_bytes - 1) / element_bytes * element_bytes;
  }
  static constexpr std::size_t bytes(OperationKind kind, std::size_t count, std::size_t element_bytes) {
    return kind == OperationKind::push_elements ? updates_at(count, element_bytes) + count * element_bytes
                                                : kCountBytes + count * sizeof(std::uint32_t);
  }
  // Payloads begin at a multiple of this.
  static constexpr std::size_t unit(OperationKind kind, std::size_t element_bytes) {
    return kind == OperationKind::push_elements ? element_bytes : sizeof(std::uint32_t);
  }

  // The number of elements in a payload.
  static std::uint32_t count(const std::byte* payload) {
    std::uint32_t count;
    std::memcpy(&count, payload, sizeof count);
    return count;
  }
  // The elements in a payload, which must outlive the result.
  static ElementRun run(const std::byte* payload) {
    return {reinterpret_cast<const std::uint32_t*>(payload + kCountBytes), count(payload)};
  }
  static const std::byte* updates(const std::byte* payload, std::size_t element_bytes) {
    return payload + updates_at(count(payload), element_bytes);
  }
};

}  // namespace lapse
