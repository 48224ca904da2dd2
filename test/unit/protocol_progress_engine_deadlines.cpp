// Deadlines: an engine calls its client once the deadline has passed, and does not sleep past it.
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"

using lapse::Doorbell;
using lapse::ProgressEngine;
using lapse::Rank;
using lapse::Submission;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using SteadyClock = std::chrono::steady_clock;

// Has deadlines `rounds` times, `interval` apart, after start() is called.
class ClockClient final : public lapse::EngineClient, public lapse::SubmissionHandler {
 public:
  explicit ClockClient(microseconds interval, int rounds) : interval_(interval), rounds_left_(rounds) {}

  void start() { next_ = SteadyClock::now() + interval_; }
  void handle_packet(Rank, std::span<const std::byte>) override {}
  void end_turn() override { turns_ended.fetch_add(1); }
  void handle_failure(std::exception_ptr) noexcept override { failures.fetch_add(1); }
  void handle_submission(Submission&) override { start(); }

  std::optional<SteadyClock::time_point> next_deadline() const override { return next_; }
  void handle_deadline(SteadyClock::time_point now) override {
    if (now < next_.value()) early.fetch_add(1);
    next_.reset();
    if (--rounds_left_ > 0) next_ = now + interval_;
    turns_before = turns_ended;
    met.fetch_add(1);
    if (fails) throw std::runtime_error("deadline");
  }

  std::atomic<int> met{0};
  std::atomic<int> early{0};
  std::atomic<int> failures{0};
  std::atomic<int> turns_ended{0};
  int turns_before = -1;
  bool fails = false;

 private:
  const microseconds interval_;
  int rounds_left_;
  std::optional<SteadyClock::time_point> next_;
};

// Sleeps at once, and longer than the test's limit unless the sleep is interrupted.
ProgressEngine::Settings sleepy() {
  ProgressEngine::Settings settings;
  settings.idle = {
      .spin = microseconds(0), .sleep_min = seconds(20), .sleep_max = seconds(20), .polls_per_yield = 0};
  return settings;
}
constexpr seconds kSoon{10};
bool is_late(SteadyClock::time_point begin) {
  return SteadyClock::now() - begin > kSoon;
}

}  // namespace

TEST_CASE("Once the deadline has passed, a turn calls the client, once, and ends") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(microseconds(200), 1);
  ProgressEngine engine(network.endpoint(Rank(0)), client, sleepy());
  const auto turn = [&] {
    bool progressed = false;
    engine.exclusively([&] { progressed = engine.turn(); });
    return progressed;
  };
  CHECK_FALSE(turn());
  engine.exclusively([&] { client.start(); });
  const auto begin = SteadyClock::now();
  while (client.met == 0 && !is_late(begin)) turn();
  CHECK(client.early == 0);
  CHECK(client.turns_ended == client.turns_before + 1);
  CHECK_FALSE(turn());
  CHECK(client.met == 1);
}

TEST_CASE("Before its deadline a client is not called") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(std::chrono::hours(1), 1);
  ProgressEngine engine(network.endpoint(Rank(0)), client, sleepy());
  engine.exclusively([&] { client.start(); });
  for (int i = 0; i < 100; ++i) engine.exclusively([&] { CHECK_FALSE(engine.turn()); });
  CHECK(client.met == 0);
}

TEST_CASE("An exception out of work by the clock reaches the client; the rest goes on") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(microseconds(0), 2);
  client.fails = true;
  ProgressEngine engine(network.endpoint(Rank(0)), client, sleepy());
  engine.exclusively([&] { client.start(); });
  // A deadline does not keep the engine awake.
  for (int i = 0; i < 2; ++i) engine.exclusively([&] { CHECK_FALSE(engine.turn()); });
  CHECK(client.failures == 2);
  CHECK(client.turns_ended == 2);
}

TEST_CASE("The serving thread does not sleep past a deadline") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(milliseconds(2), 5);
  ProgressEngine engine(network.endpoint(Rank(0)), client, sleepy());
  engine.exclusively([&] { client.start(); });
  const auto begin = SteadyClock::now();
  engine.serve([&] { return client.met == 5 || is_late(begin); });
  CHECK_FALSE(is_late(begin));
  CHECK(client.early == 0);
}

TEST_CASE("Where processors are scarce, the serving thread meets deadlines while workers sleep") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(milliseconds(2), 5);
  ProgressEngine::Settings crowded = sleepy();
  crowded.senders_ring = true;
  crowded.idle.sleep_min = crowded.idle.sleep_max;
  ProgressEngine engine(network.endpoint(Rank(0)), client, crowded);
  engine.set_crowded(true);
  engine.exclusively([&] { client.start(); });
  const auto begin = SteadyClock::now();
  std::jthread worker([&] {
    Doorbell bell;
    engine.wait(
        bell, [&] { return client.met == 5 || is_late(begin); }, ProgressEngine::WaitFor::workers);
  });
  engine.serve([&] { return client.met == 5 || is_late(begin); });
  CHECK_FALSE(is_late(begin));
  CHECK(client.early == 0);
}

TEST_CASE("A deadline that is set while the serving thread sleeps wakes it") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(milliseconds(1), 1);
  ProgressEngine engine(network.endpoint(Rank(0)), client, sleepy());
  const auto begin = SteadyClock::now();
  std::jthread server([&] { engine.serve([&] { return client.met == 1 || is_late(begin); }); });
  // Mostly the engine sleeps by then; if not, its first sleep is short.
  for (std::uint64_t turns = 0; turns == 0;) engine.exclusively([&] { turns = engine.counters().turns; });
  Submission start;
  start.handler = &client;
  engine.submit(start);
  server.join();
  CHECK_FALSE(is_late(begin));
}

TEST_CASE("A waiting worker does not sleep past a deadline") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(milliseconds(2), 5);
  ProgressEngine engine(network.endpoint(Rank(0)), client, sleepy());
  engine.exclusively([&] { client.start(); });
  const auto begin = SteadyClock::now();
  Doorbell bell;
  engine.wait(bell, [&] { return client.met == 5 || is_late(begin); });
  CHECK_FALSE(is_late(begin));
}

TEST_CASE("Waiting for something else than serve does, the serving thread does not sleep past a deadline") {
  lapse::LoopbackNetwork network(1, false);
  ClockClient client(milliseconds(5), 1);
  ProgressEngine engine(network.endpoint(Rank(0)), client, sleepy());
  engine.exclusively([&] { client.start(); });
  lapse::IdlePolicy idle(sleepy().idle);
  const auto begin = SteadyClock::now();
  while (client.met == 0 && !is_late(begin)) {
    engine.sleep(idle, [] { return false; });
    engine.exclusively([&] { engine.turn(); });
  }
  CHECK_FALSE(is_late(begin));
}
