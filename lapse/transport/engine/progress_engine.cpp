#include "lapse/transport/engine/progress_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "lapse/core/error.hpp"
#include "lapse/core/exception_text.hpp"

namespace lapse {

ProgressEngine::ProgressEngine(Transport& transport, EngineClient& client, const Settings& settings)
    : transport_(transport),
      client_(client),
      settings_(settings),
      server_bell_(transport.doorbell() != nullptr ? *transport.doorbell() : own_bell_) {
  deliver_ = [this](Rank from, std::span<const std::byte> packet) {
    progress_role.assert_held();  // The transport calls it from poll.
    ++counters_.packets_received;
    counters_.bytes_received += packet.size();
    try {
      client_.handle_packet(from, packet);
    } catch (...) {
      client_.handle_failure(std::current_exception());
    }
  };
}

void ProgressEngine::carry_out(Submission& submission) {
  try {
    submission.handler->handle_submission(submission);
  } catch (...) {
    client_.handle_failure(std::current_exception());
  }
}

bool ProgressEngine::turn(std::size_t packets, Submission* own, bool goes_on) {
  ++counters_.turns;
  bool progressed = false;
  // Timed work is no reason to expect packets: a waiting thread sleeps nevertheless.
  bool met_deadline = false;
  try {
    Submission* submission = queue_.take_all();
    progressed = submission != nullptr || own != nullptr;
    // A server thread sends what is left if the worker does not come back.
    const bool may_hold = goes_on && submission == nullptr && own != nullptr && !has_sole_driver();
    while (submission != nullptr) {
      Submission* next = submission->next;  // the handler may return the submission to its owner
      carry_out(*submission);
      submission = next;
    }
    if (own != nullptr) carry_out(*own);
    if (may_hold) {
      holds_packets_ = client_.end_submission();
      if (holds_packets_) {
        update_deadline();
        return true;
      }
    } else if (progressed || holds_packets_) {
      holds_packets_ = false;
      client_.end_turn();
    }
    if (deadline_.load(std::memory_order_relaxed) != kNoDeadline) [[unlikely]] {
      met_deadline = meet_deadline();
    }
    // The answer to a packet is sent before the next packet is polled, because a worker waits for it.
    for (std::size_t packet = 0; packet < packets && poll_packet(); ++packet) {
      progressed = true;
      client_.end_turn();
    }
  } catch (...) {
    // The transport itself failed. The packets it was sending or receiving are lost, and no rank can be
    // notified.
    transport_.abort(fmt::format("communication failed: {}", text_of(std::current_exception())));
  }
  if (progressed || met_deadline) update_deadline();
  return progressed;
}

bool ProgressEngine::poll_packet() {
  try {
    return transport_.poll(deliver_, 1) > 0;
  } catch (const OutOfMemory&) {
    // The packet waits for memory. Every rank learns why workers end, which frees memory.
    client_.handle_failure(std::current_exception());
    return true;
  }
}

bool ProgressEngine::meet_deadline() {
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < deadline_.load(std::memory_order_relaxed)) return false;
  try {
    client_.handle_deadline(now);
  } catch (...) {
    client_.handle_failure(std::current_exception());
  }
  client_.end_turn();
  return true;
}

void ProgressEngine::update_deadline() {
  const std::optional<Clock::time_point> next = client_.next_deadline();
  const Clock::rep deadline = next ? next->time_since_epoch().count() : kNoDeadline;
  const Clock::rep before = deadline_.load(std::memory_order_relaxed);
  if (deadline == before) return;
  deadline_.store(deadline, std::memory_order_relaxed);
  // The fences of sleeper and ringer ensure that a server thread about to sleep sees the new deadline.
  if (deadline < before) server_bell_.force_wake();
}

std::chrono::microseconds ProgressEngine::until_deadline(std::chrono::microseconds limit,
                                                         Clock::rep deadline) {
  if (deadline == kNoDeadline) return limit;
  const auto left = std::chrono::ceil<std::chrono::microseconds>(Clock::duration(deadline) -
                                                                 Clock::now().time_since_epoch());
  return std::clamp(left, std::chrono::microseconds(0), limit);
}

bool ProgressEngine::poll_once() {
  if (!settings_.polling) return false;
  if (!try_enter()) return true;
  const bool found = turn_and_leave(nullptr);
  drive_submissions();
  return found;
}

void ProgressEngine::submit(Submission& submission) {
  queue_.push(submission);
  if (may_drive()) {
    drive_submissions();
  } else {
    server_bell_.force_wake();
  }
}

bool ProgressEngine::try_submit(Submission& submission) {
  if (!may_drive() || !try_enter()) return false;
  turn_and_leave(&submission);
  drive_submissions();
  return true;
}

bool ProgressEngine::help(Submission& submission) {
  if (!may_drive()) return false;
  give_way();
  if (!try_enter()) {
    help_.ask();
    return false;
  }
  begin_to_help();
  help_.stay();
  turn(kPacketsPerTurn, &submission);
  const bool busy = !transport_.idle();
  help_.end_stay();
  leave_to_server();
  if (busy) server_bell_.ring();
  drive_submissions();
  return true;
}

void ProgressEngine::make_progress(std::chrono::microseconds wait) {
  constexpr int kMaxTurns = 16;  // Other ranks may send endlessly.
  bool busy = false;
  const auto make_turn = [&] {
    if (!try_enter()) return false;
    const bool progressed = turn();
    busy = !transport_.idle();
    leave_to_server();
    drive_submissions();
    return progressed;
  };
  int turns = 0;
  while (turns < kMaxTurns && make_turn()) ++turns;
  if (turns > 0 || wait.count() <= 0 || !is_sole_driver()) return;
  // The application's time may be longer than the clock can count.
  constexpr std::chrono::hours kLongest{24 * 365};
  const Clock::time_point end = Clock::now() + std::min<std::chrono::microseconds>(wait, kLongest);
  IdlePolicy idle(idle_settings());
  while (Clock::now() < end && !make_turn()) {
    const IdlePolicy::Step step = idle.failed(&Clock::now);
    if (step != IdlePolicy::Step::sleep || busy) {
      pause(step == IdlePolicy::Step::poll ? step : IdlePolicy::Step::yield);
      continue;
    }
    const auto left = std::chrono::ceil<std::chrono::microseconds>(end - Clock::now());
    const std::chrono::microseconds limit = std::clamp(left, std::chrono::microseconds(0), sleep_limit(idle));
    server_bell_.sleep(until_deadline(limit), [&] { return !queue_.empty() || poll_once(); });
  }
}

void ProgressEngine::give_way() {
  if (!settings_.crowded) return;
  const Clock::rep last = gave_way_.load(std::memory_order_relaxed);
  const Clock::time_point now = Clock::now();
  if (now - Clock::time_point(Clock::duration(last)) < settings_.idle.way_interval) return;
  std::this_thread::yield();
  gave_way_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

void ProgressEngine::submit_in_place(Submission& submission) {
  mutex_.lock();
  progress_role.acquire();
  turn_and_leave(&submission);
  drive_submissions();
}

bool ProgressEngine::turn_and_leave(Submission* own) {
  const bool progressed = turn(1, own, true);
  const bool busy = holds_packets_ || !transport_.idle();
  leave_to_server();
  if (busy) server_bell_.ring();
  return progressed || busy;
}

void ProgressEngine::leave_to_server() {
  const bool awaits_room = transport_.waits_for_room();
  if (awaits_room) help_.leave_packet();
  leave();
  if (awaits_room) server_bell_.force_wake();
}

void ProgressEngine::drive_submissions() {
  if (!may_drive()) return;
  // A thread that fails to get the lock may leave: the lock holder checks the queue after releasing it. The
  // fence orders the push (or the release of the lock) before the other thread's check.
  for (;;) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (queue_.empty() || !try_enter()) return;
    turn_and_leave(nullptr);
  }
}

}  // namespace lapse
