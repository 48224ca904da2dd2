// How exceptions become statuses of the C interface.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/lapse.h"

namespace lapse::c {

// Of the exception that is being handled; its text becomes that of lapse_last_error.
lapse_status status_of_exception() noexcept;

// Calls f, and nothing leaves.
template <class F>
lapse_status guarded(F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return LAPSE_OK;
  } catch (...) {
    return status_of_exception();
  }
}

// The answer of f; where it throws, `otherwise`, and lapse_last_error says why.
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

// Throws ConfigurationError for a structure of the application that is of another version.
void check_size(std::size_t given, std::size_t expected, const char* name);
template <class S>
void check_size(const S& structure, const char* name) {
  check_size(structure.size, sizeof(S), name);
}

// Nothing for LAPSE_DEFAULT.
std::optional<bool> choice_of(int given, const char* name);

// LAPSE_ERROR_USER_CODE, where no other error is made of it.
class CallbackFailed : public Error {
 public:
  using Error::Error;
};

// What a function of the application has returned. Throws CallbackFailed unless 0.
void check_callback(int result, const char* what);

// The same of a function that calls the library, and may return what has failed there: the error says why.
class CheckedWorker {
 public:
  CheckedWorker() noexcept;
  void check(int result) const;
};

}  // namespace lapse::c
