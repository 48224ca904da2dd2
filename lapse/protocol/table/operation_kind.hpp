// The kinds of operations on a key.
#pragma once

#include <cstdint>

namespace lapse {

struct RegisteredFunction;

enum class OperationKind : std::uint8_t { pull, push, set, call, localize, pull_elements, push_elements };

// The operation changes no value.
constexpr bool is_read(OperationKind kind) {
  return kind == OperationKind::pull || kind == OperationKind::pull_elements;
}
constexpr bool is_on_elements(OperationKind kind) {
  return kind == OperationKind::pull_elements || kind == OperationKind::push_elements;
}

// What an operation does to a value, wherever the value is (see TableShard::apply).
struct ValueOperation {
  OperationKind kind = OperationKind::pull;
  float scale = 1;                               // push, push_elements: of the learning rate
  const RegisteredFunction* function = nullptr;  // call
};

}  // namespace lapse
