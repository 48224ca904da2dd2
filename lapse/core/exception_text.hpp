// What an exception says, whatever its type.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace lapse {

// Calls f(text), a const char* that is valid meanwhile. Needs no memory. `failure` is not null.
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

// The same as a string; where there is no memory for it, that.
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
