// The kinds of operations on a key.
#pragma once

#include <cstdint>

namespace lapse {

struct RegisteredFunction;

enum class OperationKind : std::uint8_t { pull, push, set, call, localize };

// What an operation does to a value, wherever the value is (see TableShard::apply).
struct ValueOperation {
  OperationKind kind = OperationKind::pull;
  float scale = 1;                               // push: of the learning rate
  const RegisteredFunction* function = nullptr;  // call
};

}  // namespace lapse
