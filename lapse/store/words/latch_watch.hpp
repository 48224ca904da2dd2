// Learns of long waits for latches.
#pragma once

#include <chrono>

#include "lapse/core/types.hpp"

namespace lapse {

// One for each table. Thread safety: any thread; the thread that calls holds no latch, but perhaps the
// progress lock.
class LatchWatch {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // How long a wait takes before the first report, and then from report to report; zero: no report.
  virtual Duration patience() const = 0;
  virtual void report(Key key, Duration waited) noexcept = 0;

 protected:
  ~LatchWatch() = default;
};

}  // namespace lapse
