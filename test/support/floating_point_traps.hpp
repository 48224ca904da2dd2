// Turns floating-point exceptions into signals, like Fortran codes and debuggers do.
#pragma once

#include <cfenv>

namespace lapse::test {

// While it lives, an invalid operation, an overflow or a division by zero ends the process, on this thread
// and on the threads that it starts.
class FloatingPointTraps {
 public:
  FloatingPointTraps() : before_(feenableexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO)) {}
  ~FloatingPointTraps() {
    fedisableexcept(FE_ALL_EXCEPT);
    feenableexcept(before_);
  }
  FloatingPointTraps(const FloatingPointTraps&) = delete;
  FloatingPointTraps& operator=(const FloatingPointTraps&) = delete;

 private:
  int before_;
};

}  // namespace lapse::test
