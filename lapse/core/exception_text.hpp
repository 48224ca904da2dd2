// The message of an exception of any type.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace lapse {

// Calls f(text); the const char* is valid during the call. Allocates nothing. Requires a non-null `failure`.
template <class F>
void with_text_of(const std::exception_ptr& failure, F&& f) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    std::forward<F>(f)("out of memory (std::bad_alloc)");
  } catch (const std::exception& error) {
    std::forward<F>(f)(error.what());
  } catch (...) {
    std::forward<F>(f)("unknown exception");
  }
}

// The same as a string; "out of memory" if it cannot be allocated.
inline std::string text_of(const std::exception_ptr& failure) noexcept {
  std::string text;
  with_text_of(failure, [&](const char* says) {
    try {
      text = says;
    } catch (const std::bad_alloc&) {
      text = "out of memory";
    }
  });
  return text;
}

}  // namespace lapse
