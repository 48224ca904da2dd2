// What must be true of results, whatever the input.
#pragma once

#include <stdexcept>
#include <string>

namespace lapse::test {

// A result that no input may give. Not an error of the library: fuzzers let it pass.
struct FuzzFinding : std::logic_error {
  using std::logic_error::logic_error;
};

inline void check(bool condition, const char* what) {
  if (!condition) throw FuzzFinding(std::string("not so: ") + what);
}

}  // namespace lapse::test
