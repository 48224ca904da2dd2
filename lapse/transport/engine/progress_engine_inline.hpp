// How threads wait for the engine and serve it: templates of progress_engine.hpp, which includes this file.
#pragma once

#include <algorithm>
#include <chrono>

#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/transport/engine/progress_engine.hpp"

namespace lapse {

template <class Done>
void ProgressEngine::wait(Doorbell& bell, Done&& done, WaitFor what) {
  if (is_sole_driver()) {
    serve(done);
    return;
  }
  if (leaves_all_to_server(what)) {
    while (!done()) sleep_beside_server(bell, kLongSleep, done);
    return;
  }
  IdlePolicy idle(idle_settings());
  while (!done()) {
    IdlePolicy::Step step = IdlePolicy::Step::poll;
    if (settings_.helping && try_enter()) {
      help_.stay();
      begin_to_help();
      for (;;) {
        const bool progressed = turn(1);
        ++counters_.helper_turns;
        if (done()) break;
        if (progressed) {
          idle.succeeded();
          continue;
        }
        step = idle.failed(&Clock::now);
        if (step == IdlePolicy::Step::sleep && !transport_.idle()) step = IdlePolicy::Step::yield;
        if (step != IdlePolicy::Step::poll) break;
      }
      help_.end_stay();
      leave_to_server();
      drive_submissions();
      // A thread that stops helping asks a sleeping waiter to take over. The server thread may stay in light
      // sleep a little longer: most helpers come back at once.
      if (done()) wake_sleeper();
    } else {
      step = idle.failed(&Clock::now);
    }
    if (step == IdlePolicy::Step::sleep) {
      std::chrono::microseconds limit = sleep_limit(idle);
      if (settings_.helping) limit = until_deadline(limit);
      sleeper_.store(&bell, std::memory_order_relaxed);
      sleep_beside_server(bell, limit, done);
      Doorbell* self = &bell;
      sleeper_.compare_exchange_strong(self, nullptr, std::memory_order_relaxed);
    } else {
      pause(step);
    }
  }
}

template <class Stop>
void ProgressEngine::serve(Stop&& stop) {
  IdlePolicy idle(idle_settings());
  HelpRecord::View help(help_);
  while (!stop()) {
    bool progressed = false;
    bool must_stay = false;
    const bool helped = !has_sole_driver() && help.is_helped();
    if (!helped && try_enter()) {
      help.take_over();
      progressed = turn();
      must_stay = !transport_.idle();
      leave();
      drive_submissions();
    }
    if (progressed) {
      idle.succeeded();
      continue;
    }
    const IdlePolicy::Step step = idle.failed(&Clock::now);
    if (helped) {
      // Another worker may have helped recently and come back soon: then the light sleep is short.
      const bool listens = must_listen();
      const Clock::rep deadline = deadline_.load(std::memory_order_relaxed);
      // A passed deadline is the helper's. It may have lost its processor: then it gets this one.
      const std::chrono::microseconds limit =
          until_deadline(listens ? settings_.idle.sleep_min : idle.sleep_length(), deadline);
      server_bell_.light_sleep(std::max(limit, settings_.idle.sleep_min / 2), [&] {
        return stop() || (!listens && must_listen()) || help_.awaits_room() ||
               deadline_.load(std::memory_order_relaxed) != deadline;
      });
    } else if (step == IdlePolicy::Step::sleep && !must_stay) {
      const TimedRegion region("lapse sleep");
      sleep(idle, [&] { return stop() || !queue_.empty() || poll_once(); });
    } else {
      pause(step == IdlePolicy::Step::sleep ? IdlePolicy::Step::yield : step);
    }
  }
}

}  // namespace lapse
