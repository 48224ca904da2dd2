// Converts exceptions to statuses of the C interface.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/lapse.h"

namespace lapse::c {

// Converts the current exception; its message becomes that of lapse_last_error.
lapse_status status_of_exception() noexcept;

// Calls f and converts its exceptions.
template <class F>
lapse_status guarded(F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return LAPSE_OK;
  } catch (...) {
    return status_of_exception();
  }
}

// Returns the answer of f. If f throws, sets lapse_last_error and returns `otherwise`.
template <class F>
int answered(F&& f, int otherwise) noexcept {
  try {
    return std::forward<F>(f)() ? 1 : 0;
  } catch (...) {
    status_of_exception();
    return otherwise;
  }
}

// Throws UsageError for a null pointer.
template <class T>
T& given(T* pointer, const char* what) {
  if (pointer == nullptr) throw UsageError(std::string(what) + " is NULL");
  return *pointer;
}

// Throws ConfigurationError if a structure of the application is of another version.
void check_size(std::size_t given, std::size_t expected, const char* name);
template <class S>
void check_size(const S& structure, const char* name) {
  check_size(structure.size, sizeof(S), name);
}

// Returns nullopt for LAPSE_DEFAULT.
std::optional<bool> choice_of(int given, const char* name);

// Returns the choice of this number, from 0. Throws Failure, with `what` and the number, if there is none.
template <class Failure, class T, std::size_t N>
T choice_at(const std::array<T, N>& choices, int number, const char* what) {
  if (number < 0 || static_cast<std::size_t>(number) >= N)
    throw Failure(std::string(what) + " " + std::to_string(number));
  return choices[static_cast<std::size_t>(number)];
}

// Becomes LAPSE_ERROR_USER_CODE unless converted to another error.
class CallbackFailed : public Error {
 public:
  using Error::Error;
};

// Throws CallbackFailed unless `result`, returned by a function of the application, is 0.
void check_callback(int result, const char* what);

// The same for a function that calls the library, and may return the status of a failed call: the error then
// has that call's message.
class CheckedWorker {
 public:
  CheckedWorker() noexcept;
  void check(int result) const;
};

}  // namespace lapse::c
