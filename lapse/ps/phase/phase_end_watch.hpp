// Reports the wait for the end of a phase when it takes too long.
#pragma once

#include <chrono>

#include "lapse/protocol/stalls/stall_inquiry.hpp"
#include "lapse/protocol/worker/stall_question.hpp"
#include "lapse/ps/stalls/stall_reports.hpp"
#include "lapse/transport/engine/progress_engine.hpp"

namespace lapse {

// One for a server: an answer may come when the phase has ended. The thread of the server calls it.
class PhaseEndWatch {
 public:
  PhaseEndWatch(const StallReports& reports, StallInquiry& inquiry, ProgressEngine& engine)
      : reports_(reports), inquiry_(inquiry), engine_(engine) {}

  // The wait begins.
  void begin();
  // Now and then while this thread waits and drives the engine: after each limit of the reports asks the
  // other ranks, and reports once they have answered. Does not wait.
  void poll();

 private:
  using SteadyClock = std::chrono::steady_clock;

  const StallReports& reports_;
  StallInquiry& inquiry_;
  ProgressEngine& engine_;
  SteadyClock::time_point began_{};
  SteadyClock::time_point asked_{};
  bool asks_ = false;
  StallQuestion question_;
};

}  // namespace lapse
