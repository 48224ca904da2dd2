#include "lapse/ps/rest.hpp"

#include <cstring>
#include <thread>

#include "lapse/protocol/quiescence.hpp"

namespace lapse {

namespace {

// One rank's part in the waves.
class WaveRider {
 public:
  WaveRider(Channel& channel, ProgressEngine& engine)
      : channel_(channel), engine_(engine), round_(channel.wave().completed_rounds() + 1) {}

  // One turn of the engine and whatever the waves ask for. True when anything was done.
  bool advance() LAPSE_REQUIRES(progress_role) {
    bool progressed = engine_.turn();
    channel_.end_turn();  // what was said outside a turn, such as a failure of this rank
    if (!contributed_ && engine_.quiet() && channel_.passive()) {
      const Quiescence::Counts counts = channel_.frame_counts();
      contribution_.bytes.resize(sizeof counts);
      std::memcpy(contribution_.bytes.data(), &counts, sizeof counts);
      channel_.wave().handle_submission(contribution_);
      channel_.end_turn();
      contributed_ = true;
    }
    if (channel_.wave().completed_rounds() >= round_) {
      Quiescence::Counts sums;
      std::memcpy(&sums, channel_.wave().result().data(), sizeof sums);
      at_rest_ = quiescence_.observe(sums);
      ++round_;
      contributed_ = false;
      progressed = true;
    }
    return progressed;
  }

  bool at_rest() const { return at_rest_; }

 private:
  Channel& channel_;
  ProgressEngine& engine_;
  Quiescence quiescence_;
  Contribution contribution_;
  std::uint64_t round_;
  bool contributed_ = false;
  bool at_rest_ = false;
};

}  // namespace

void drive_to_rest(Channel& channel, ProgressEngine& engine, Transport& transport) {
  WaveRider rider(channel, engine);
  IdlePolicy idle(engine.idle_settings());
  while (!rider.at_rest()) {
    bool progressed = false;
    bool nothing_under_way = false;
    engine.exclusively([&]() LAPSE_REQUIRES(progress_role) {
      progressed = rider.advance();
      nothing_under_way = transport.idle();
    });
    if (progressed) {
      idle.succeeded();
      continue;
    }
    const IdlePolicy::Step step = idle.failed(&IdlePolicy::Clock::now);
    if (step == IdlePolicy::Step::sleep && nothing_under_way) {
      engine.sleep(idle, [&] {
        bool found = false;
        engine.exclusively(
            [&]() LAPSE_REQUIRES(progress_role) { found = rider.advance() || !transport.idle(); });
        return found || rider.at_rest();
      });
    } else if (step != IdlePolicy::Step::poll) {
      std::this_thread::yield();
    }
  }
  // The verdict may still be on its way to others.
  for (bool sent = false; !sent;) {
    engine.exclusively([&]() LAPSE_REQUIRES(progress_role) {
      sent = transport.idle();
      if (!sent) engine.turn();
    });
  }
}

}  // namespace lapse
