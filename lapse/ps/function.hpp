// The handle of a function that runs where a key is.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

#include "lapse/protocol/registered_function.hpp"
#include "lapse/store/element_type.hpp"

namespace lapse {

// In place of an argument or a result that there is not. Takes no bytes.
using Nothing = std::monostate;

template <class T>
constexpr std::size_t bytes_of() {
  return std::is_same_v<T, Nothing> ? 0 : sizeof(T);
}

// A function on values of element type T, made by ParameterServer::register_function and valid as long as the
// server; a worker calls it with Worker::call.
template <Element T, class Argument, class Result>
class Function {
 public:
  Function(const RegisteredFunction& function, const void* server) : function_(&function), server_(server) {}
  const std::string& name() const { return function_->name; }

 private:
  friend class Worker;
  const RegisteredFunction* function_;
  const void* server_;
};

}  // namespace lapse
