// Reports a wait for the end of a phase that takes too long.
#pragma once

#include <chrono>

#include "lapse/protocol/stalls/stall_inquiry.hpp"
#include "lapse/protocol/worker/stall_question.hpp"
#include "lapse/ps/stalls/stall_reports.hpp"
#include "lapse/transport/engine/progress_engine.hpp"

namespace lapse {

// One for a server: an answer may arrive after the phase has ended. Called by the thread of the server.
class PhaseEndWatch {
 public:
  PhaseEndWatch(const StallReports& reports, StallInquiry& inquiry, ProgressEngine& engine)
      : reports_(reports), inquiry_(inquiry), engine_(engine) {}

  // Begins the wait.
  void begin();
  // Call it repeatedly while this thread waits and drives the engine. After each limit of the reports, asks
  // the other ranks, and reports once they have answered. Does not wait.
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
