// The message of an exception that a test expects.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace lapse::test {

// Calls f and returns what() of the `Exception` that it throws. Other exceptions propagate. Throws
// std::logic_error if f throws nothing.
template <class Exception, class F>
std::string thrown_text(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Exception& error) {
    return error.what();
  }
  throw std::logic_error("the expected exception was not thrown");
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace lapse::test
