// What checks of histories report.
#pragma once

#include <stdexcept>

namespace lapse::test {

// Something was seen that the guarantees exclude; the text says by whom, of which key, and why not.
class HistoryViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lapse::test
