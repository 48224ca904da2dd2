// The error that checks of histories throw.
#pragma once

#include <stdexcept>

namespace lapse::test {

// A worker saw a value that the guarantees exclude. The message names the worker, the key and the reason.
class HistoryViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lapse::test
