#include "lapse/ps/phase/rest.hpp"

#include <exception>
#include <thread>

#include "lapse/core/exception_text.hpp"

namespace lapse {

void quiesce(RankProtocol& protocol, ProgressEngine& engine, Transport& transport,
             const std::function<void()>& while_waiting) {
  TerminationDetection& termination = protocol.termination();
  const std::uint64_t phase = termination.phases_ended() + 1;
  QuiescenceRequest request;
  IdlePolicy idle(engine.idle_settings());
  bool requested = false;
  // One turn of the engine, then end_turn for decisions made outside of a turn, such as a failure of this
  // rank. Does not begin termination detection before this rank's sends and remote reads have finished: after
  // a failure, other ranks may need this rank's help to finish theirs.
  const auto advance = [&]() LAPSE_REQUIRES(progress_role) {
    const bool progressed = engine.turn();
    if (!requested && engine.quiet()) {
      termination.handle_submission(request);
      requested = true;
    }
    try {
      protocol.end_turn();
    } catch (...) {
      // Like in a turn of the engine: a packet is lost, and no rank can be notified.
      transport.abort("communication failed: " + text_of(std::current_exception()));
    }
    return progressed;
  };
  const auto completed = [&] { return termination.phases_ended() >= phase; };
  while (!completed()) {
    bool progressed = false;
    bool nothing_in_flight = false;
    engine.exclusively([&]() LAPSE_REQUIRES(progress_role) {
      progressed = advance();
      nothing_in_flight = transport.idle();
    });
    if (progressed) {
      idle.succeeded();
      continue;
    }
    const IdlePolicy::Step step = idle.failed(&IdlePolicy::Clock::now);
    if (step == IdlePolicy::Step::sleep && while_waiting) {
      try {
        while_waiting();
      } catch (...) {
        // Notifies the ranks that wait for this one, and continues to wait.
        const std::exception_ptr failure = std::current_exception();
        engine.exclusively([&]() LAPSE_REQUIRES(progress_role) { protocol.handle_failure(failure); });
      }
    }
    if (step == IdlePolicy::Step::sleep && nothing_in_flight) {
      engine.sleep(idle, [&] {
        bool found = false;
        engine.exclusively([&]() LAPSE_REQUIRES(progress_role) { found = advance() || !transport.idle(); });
        return found || completed();
      });
    } else if (step != IdlePolicy::Step::poll) {
      std::this_thread::yield();
    }
  }
  // The verdict may still be on its way to other ranks.
  for (bool sent = false; !sent;) {
    engine.exclusively([&]() LAPSE_REQUIRES(progress_role) {
      sent = transport.idle();
      if (!sent) engine.turn();
    });
  }
}

}  // namespace lapse
