#include "lapse/transport/progress_engine.hpp"

#include <fmt/format.h>

#include <exception>

namespace lapse {

ProgressEngine::ProgressEngine(Transport& transport, EngineClient& client, const Settings& settings)
    : transport_(transport),
      client_(client),
      settings_(settings),
      server_bell_(transport.doorbell() != nullptr ? *transport.doorbell() : own_bell_) {
  deliver_ = [this](Rank from, std::span<const std::byte> packet) {
    ++counters_.packets_received;
    counters_.bytes_received += packet.size();
    try {
      client_.handle_packet(from, packet);
    } catch (...) {
      client_.handle_failure(std::current_exception());
    }
  };
}

bool ProgressEngine::turn(std::size_t packets) {
  ++counters_.turns;
  bool progressed = false;
  try {
    Submission* submission = queue_.take_all();
    progressed = submission != nullptr;
    while (submission != nullptr) {
      Submission* next = submission->next;  // the handler may give the submission back to its owner
      try {
        submission->handler->handle_submission(*submission);
      } catch (...) {
        client_.handle_failure(std::current_exception());
      }
      submission = next;
    }
    if (progressed) client_.end_turn();
    // What a packet asks for is sent before the next one is looked for: somebody waits for it.
    for (std::size_t packet = 0; packet < packets && transport_.poll(deliver_, 1) > 0; ++packet) {
      progressed = true;
      client_.end_turn();
    }
  } catch (const std::exception& error) {
    // The transport itself failed. What it was sending or receiving is lost, and nobody can be told.
    transport_.abort(fmt::format("communication failed: {}", error.what()));
  }
  return progressed;
}

bool ProgressEngine::look_around() {
  if (!settings_.polling) return false;
  if (!mutex_.try_lock()) return true;
  const bool progressed = turn();
  const bool busy = !transport_.idle();
  mutex_.unlock();
  drive_submissions();
  return progressed || busy;
}

void ProgressEngine::submit(Submission& submission) {
  queue_.push(submission);
  if (settings_.helping) {
    drive_submissions();
  } else {
    server_bell_.knock();
  }
}

void ProgressEngine::drive_submissions() {
  if (!settings_.helping) return;
  // Whoever fails to get the lock may leave: its holder comes by here after releasing it. The fence orders
  // the push (or the release of the lock) before the look at the other.
  for (;;) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (queue_.empty() || !mutex_.try_lock()) return;
    turn(1);
    const bool busy = !transport_.idle();
    mutex_.unlock();
    // The caller may compute or sleep now.
    if (busy) server_bell_.ring();
  }
}

}  // namespace lapse
