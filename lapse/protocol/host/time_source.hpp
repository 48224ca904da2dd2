// The source of the protocol's time.
#pragma once

#include <chrono>

namespace lapse {

// Passed to the host of the modules, so that the simulation decides the time. Thread safety: any thread.
class TimeSource {
 public:
  using Clock = std::chrono::steady_clock;

  virtual Clock::time_point now() const = 0;

 protected:
  ~TimeSource() = default;
};

// The steady clock of the machine.
const TimeSource& steady_time();

}  // namespace lapse
