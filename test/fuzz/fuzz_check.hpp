// Properties of results that hold for any input.
#pragma once

#include <stdexcept>
#include <string>

namespace lapse::test {

// A result that no input may produce. It is no error of the library, so fuzzers let it propagate.
struct FuzzFinding : std::logic_error {
  using std::logic_error::logic_error;
};

inline void check(bool condition, const char* what) {
  if (!condition) throw FuzzFinding(std::string("not so: ") + what);
}

}  // namespace lapse::test
