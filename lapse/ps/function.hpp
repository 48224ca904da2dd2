// The handle of a function that runs at the owner of a key.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "lapse/protocol/table/registered_function.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/worker.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// Stands for an argument or a result that a function does not have. Takes no bytes.
using Nothing = std::monostate;

template <class T>
constexpr std::size_t bytes_of() {
  return std::is_same_v<T, Nothing> ? 0 : sizeof(T);
}

// The largest argument or result: both are copied on stacks.
inline constexpr std::size_t kMaxFunctionBytes = std::size_t{64} << 10;

// Wraps f in the form that the protocol calls; see ParameterServer::register_function.
template <Element T, class Argument, class Result, class F>
RegisteredFunction make_function(std::string name, F f) {
  static_assert(bytes_of<Argument>() <= kMaxFunctionBytes && bytes_of<Result>() <= kMaxFunctionBytes);
  static_assert(std::is_trivially_copyable_v<Argument> && std::is_trivially_copyable_v<Result>);
  RegisteredFunction function;
  function.name = std::move(name);
  function.type = element_type<T>();
  function.argument_bytes = bytes_of<Argument>();
  function.result_bytes = bytes_of<Result>();
  function.run = [f = std::move(f)](Key key, std::byte* value, std::size_t length, const std::byte* argument,
                                    std::byte* result) {
    const std::span<T> elements(reinterpret_cast<T*>(value), length);
    const auto invoke = [&] {
      if constexpr (std::is_same_v<Argument, Nothing>) {
        return f(key, elements);
      } else {
        std::array<std::byte, sizeof(Argument)> bytes;
        std::memcpy(bytes.data(), argument, sizeof(Argument));
        return f(key, elements, std::bit_cast<Argument>(bytes));
      }
    };
    if constexpr (std::is_same_v<Result, Nothing>) {
      invoke();
    } else {
      const Result value_of_f = invoke();
      std::memcpy(result, &value_of_f, sizeof value_of_f);
    }
  };
  return function;
}

// The definition in an unassigned Function. It belongs to no server, so every call refuses it.
inline const RegisteredFunction kNoFunction = {};

// A function on values of element type T, made by ParameterServer::register_function and valid as long as the
// server. A worker runs it with Worker::call. A call with an unassigned Function throws UsageError.
template <Element T, class Argument, class Result>
class Function {
 public:
  Function() = default;
  Function(const RegisteredFunction& function, const void* server) : function_(&function), server_(server) {}
  const std::string& name() const { return function_->name; }

  // For the library: the definition, and the server that it was registered with.
  const RegisteredFunction& definition() const { return *function_; }
  const void* server() const { return server_; }

 private:
  const RegisteredFunction* function_ = &kNoFunction;
  const void* server_ = nullptr;
};

template <Element T, class Argument, class Result, class F>
Function<T, Argument, Result> ParameterServer::register_function(std::string name, F f) {
  return Function<T, Argument, Result>(
      register_function(make_function<T, Argument, Result>(std::move(name), std::move(f))), identity());
}

template <Element T, class Argument, class Result>
Operation Worker::call(const Table<T>& table, const Function<T, Argument, Result>& function,
                       std::span<const Key> keys, std::type_identity_t<std::span<const Argument>> arguments,
                       std::type_identity_t<std::span<Result>> results) {
  return begin_call(table.handle(), keys, function.definition(), function.server(),
                    {bytes(arguments), bytes_of<Argument>() == 0 ? 0 : keys.size(), arguments.size()},
                    {bytes(results), bytes_of<Result>() == 0 ? 0 : keys.size(), results.size()});
}

}  // namespace lapse
