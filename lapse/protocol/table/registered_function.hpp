// A user function that runs on the rank that stores a key.
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
  // Runs under the key's latch, on a thread of a worker or the engine. Works on the value's `length`
  // elements, reads argument_bytes at `argument`, and writes result_bytes to `result`.
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
