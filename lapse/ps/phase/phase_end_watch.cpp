#include "lapse/ps/phase/phase_end_watch.hpp"

namespace lapse {

void PhaseEndWatch::begin() {
  began_ = asked_ = SteadyClock::now();
  asks_ = false;
}

void PhaseEndWatch::poll() {
  if (reports_.limit().count() == 0) return;
  const SteadyClock::time_point now = SteadyClock::now();
  if (asks_ && question_.finished.load(std::memory_order_acquire)) {
    asks_ = false;
    reports_.report_phase_end(asked_ - began_, question_.absent);
  }
  // The engine may still have a question of an earlier phase.
  if (asks_ || now - asked_ < reports_.limit() || !question_.finished.load(std::memory_order_acquire)) return;
  asked_ = now;
  asks_ = true;
  question_.detached = true;
  question_.asked = now;
  question_.absent.clear();
  question_.further_absent = 0;
  question_.silent.clear();
  question_.handler = &inquiry_;
  question_.finished.store(false, std::memory_order_release);
  engine_.submit(question_);
}

}  // namespace lapse
