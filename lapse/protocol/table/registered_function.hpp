// A user function that runs where a key is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "lapse/core/types.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// Every rank registers the same functions in the same order: messages carry the function's number.
struct RegisteredFunction {
  // Runs under the key's latch, on a worker's or the engine's thread: on the value's `length` elements,
  // reading argument_bytes at `argument` and writing result_bytes to `result`.
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
