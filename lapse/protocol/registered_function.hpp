// A function of the user that runs where a key is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "lapse/core/types.hpp"
#include "lapse/store/element_type.hpp"

namespace lapse {

// The same on every rank, under the same number: messages name the number.
struct RegisteredFunction {
  // Runs under the key's latch, on whatever thread that is: on the value's `length` elements, reading
  // argument_bytes at `argument` and writing result_bytes to `result`.
  using Run = std::function<void(Key key, std::byte* value, std::size_t length, const std::byte* argument,
                                 std::byte* result)>;

  std::string name;
  ElementType type = ElementType::float32;
  std::size_t argument_bytes = 0;
  std::size_t result_bytes = 0;
  Run run;
  std::uint32_t number = 0;
};

}  // namespace lapse
