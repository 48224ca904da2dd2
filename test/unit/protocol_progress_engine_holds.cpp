// Packets that a client leaves to a later turn of the engine.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <thread>
#include <utility>

#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"

using lapse::Doorbell;
using lapse::ProgressEngine;
using lapse::Rank;
using lapse::Submission;

namespace {

// Leaves the packets of each submission to the next turn.
class HoldingClient final : public lapse::EngineClient, public lapse::SubmissionHandler {
 public:
  void handle_packet(Rank, std::span<const std::byte>) override { ++packets; }
  void end_turn() override { ++turns_ended; }
  bool end_submission() override {
    ++submissions_held;
    return true;
  }
  void handle_failure(std::exception_ptr) noexcept override {}
  void handle_submission(Submission&) override {}

  int packets = 0;
  int turns_ended = 0;
  int submissions_held = 0;
};

ProgressEngine::Settings holding_settings() {
  ProgressEngine::Settings settings;
  settings.idle.polls_per_yield = 0;
  settings.idle.spin = std::chrono::microseconds(50);
  return settings;
}

void send_to_self(lapse::LoopbackNetwork& network) {
  lapse::Transport& transport = network.endpoint(Rank(0));
  lapse::PacketBuffer packet = transport.acquire_buffer();
  *packet.extend(1) = std::byte{1};
  transport.send(Rank(0), std::move(packet), lapse::Transport::Lane::ordered);
}

}  // namespace

TEST_CASE("Packets that the client holds back after a submission are sent in the next turn of any thread") {
  lapse::LoopbackNetwork network(1, false);
  HoldingClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, holding_settings());
  Submission job{.handler = &client};
  const auto held = [&](int submissions, int turns) {
    CHECK(client.submissions_held == submissions);
    CHECK(client.turns_ended == turns);
  };
  send_to_self(network);
  CHECK(engine.try_submit(job));
  held(1, 0);
  CHECK(client.packets == 0);
  CHECK_FALSE(engine.quiet());
  CHECK(engine.try_submit(job));
  held(2, 0);

  // A worker that waits, then the server thread.
  Doorbell bell;
  engine.wait(bell, [&] { return client.packets == 1; });
  held(2, 2);
  CHECK(engine.quiet());
  CHECK(engine.try_submit(job));
  held(3, 2);
  engine.serve([&] { return client.turns_ended > 2; });
  held(3, 3);
  CHECK(engine.quiet());

  // Another submission that is not the worker's own.
  CHECK(engine.try_submit(job));
  Submission queued{.handler = &client};
  engine.submit(queued);
  held(4, 4);

  // Without a server thread nothing is held.
  engine.set_sole_driver(std::this_thread::get_id());
  CHECK(engine.try_submit(job));
  held(4, 5);
}

TEST_CASE("The server thread sends what a submission has left, if the worker does not come back") {
  lapse::LoopbackNetwork network(1, false);
  HoldingClient client;
  ProgressEngine::Settings deep = holding_settings();
  deep.polling = false;  // so that it sleeps long
  ProgressEngine engine(network.endpoint(Rank(0)), client, deep);
  Submission job{.handler = &client};
  std::atomic<bool> stop{false};
  std::thread server([&] { engine.serve([&] { return stop.load(); }); });
  for (int i = 1; i <= 100; ++i) {
    while (!engine.try_submit(job)) std::this_thread::yield();
    int ended = 0;
    do {
      std::this_thread::yield();
      engine.exclusively([&] { ended = client.turns_ended; });
    } while (ended < i);
  }
  stop = true;
  engine.notify();
  server.join();
  CHECK(client.submissions_held == 100);
}
