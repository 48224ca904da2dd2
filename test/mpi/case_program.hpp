// The main function of programs whose only argument names a case.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace lapse::test {

// Calls run(name of the case) and prints its exception, if any. Returns the exit status.
inline int run_case(int argument_count, char** arguments, void (*run)(std::string_view)) {
  try {
    run(argument_count == 2 ? arguments[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace lapse::test
