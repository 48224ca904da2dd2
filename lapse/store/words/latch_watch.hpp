// Learns of long waits for latches.
#pragma once

#include <chrono>

#include "lapse/core/types.hpp"

namespace lapse {

// One per table. Thread safety: any thread; the calling thread holds no latch, but perhaps the progress lock.
class LatchWatch {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Length of the wait before the first report, and between reports; zero: no reports.
  virtual Duration patience() const = 0;
  virtual void report(Key key, Duration waited) noexcept = 0;

 protected:
  ~LatchWatch() = default;
};

}  // namespace lapse
