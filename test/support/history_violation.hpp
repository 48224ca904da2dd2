// What checks of histories report.
#pragma once

#include <stdexcept>

namespace lapse::test {

// Something was seen that the guarantees exclude; the message names the worker, the key and the reason.
class HistoryViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lapse::test
