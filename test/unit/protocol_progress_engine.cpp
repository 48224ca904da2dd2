#include "lapse/transport/engine/progress_engine.hpp"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lapse/transport/loopback/network.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using lapse::Doorbell;
using lapse::ProgressEngine;
using lapse::Rank;
using lapse::Submission;
using lapse::Transport;

namespace {

// Counts calls. Only one thread at a time may call.
class FakeClient final : public lapse::EngineClient, public lapse::SubmissionHandler {
 public:
  void handle_packet(Rank from, std::span<const std::byte> packet) override {
    const Alone alone(*this);
    ++packets;
    last_from = from;
    if (!packet.empty() && packet[0] == std::byte{0xff}) throw std::runtime_error("packet");
  }
  void end_turn() override {
    const Alone alone(*this);
    ++turns_ended;
  }
  void handle_failure(std::exception_ptr failure) noexcept override {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      failures.emplace_back(error.what());
    }
  }
  void handle_submission(Submission& submission) override;

  int packets = 0;
  int turns_ended = 0;
  Rank last_from{-1};
  std::vector<std::string> failures;
  std::atomic<int> overlaps{0};

 private:
  struct Alone {
    explicit Alone(FakeClient& fake) : client(fake) {
      if (client.inside_.exchange(true)) client.overlaps.fetch_add(1);
    }
    ~Alone() { client.inside_.store(false); }
    FakeClient& client;
  };
  std::atomic<bool> inside_{false};
};

struct Job : Submission {
  std::atomic<int> handled{0};
  Doorbell* bell = nullptr;
  bool fails = false;
  explicit Job(FakeClient& client) { handler = &client; }
};

void FakeClient::handle_submission(Submission& submission) {
  const Alone alone(*this);
  auto& job = static_cast<Job&>(submission);
  job.handled.fetch_add(1, std::memory_order_release);
  if (job.bell != nullptr) job.bell->ring();
  if (job.fails) throw std::runtime_error("submission");
}

ProgressEngine::Settings settings(bool helping) {
  ProgressEngine::Settings settings;
  settings.helping = helping;
  settings.idle.polls_per_yield = 0;
  settings.idle.spin = std::chrono::microseconds(50);
  return settings;
}

void send(Transport& transport, Rank to, std::byte byte) {
  lapse::PacketBuffer packet = transport.acquire_buffer();
  *packet.extend(1) = byte;
  transport.send(to, std::move(packet), Transport::Lane::ordered);
}

}  // namespace

TEST_CASE("A submission is handled before submit returns, where helping is allowed") {
  lapse::LoopbackNetwork network(1, false);
  FakeClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, settings(true));
  Job job(client);
  engine.submit(job);
  CHECK(job.handled == 1);
  CHECK(client.turns_ended == 1);
  CHECK(engine.counters().turns == 1);
  CHECK(engine.quiet());
}

TEST_CASE("Without helping only the serving thread handles submissions and packets") {
  lapse::LoopbackNetwork network(1, false);
  FakeClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, settings(false));
  Job job(client);
  send(network.endpoint(Rank(0)), Rank(0), std::byte{1});
  engine.submit(job);
  CHECK(job.handled == 0);
  CHECK_FALSE(engine.quiet());
  engine.exclusively([] {});
  CHECK(job.handled == 0);

  std::atomic<bool> stop{false};
  std::thread worker([&] {
    Doorbell bell;
    engine.wait(bell, [&] { return job.handled.load(std::memory_order_acquire) == 1; });
    stop = true;
    engine.notify();
  });
  engine.serve([&] { return stop.load(); });
  worker.join();
  CHECK(client.packets == 1);
  CHECK(engine.counters().helper_turns == 0);
}

TEST_CASE("A turn delivers packets and reports after each that its decisions have been made") {
  lapse::LoopbackNetwork network(2, false);
  FakeClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, settings(true));
  send(network.endpoint(Rank(1)), Rank(0), std::byte{1});
  send(network.endpoint(Rank(1)), Rank(0), std::byte{2});
  CHECK_FALSE(engine.quiet());
  engine.exclusively([&] { CHECK(engine.turn()); });
  CHECK(client.packets == 2);
  CHECK(client.last_from == Rank(1));
  CHECK(client.turns_ended == 2);
  engine.exclusively([&] { CHECK_FALSE(engine.turn()); });
  CHECK(client.turns_ended == 2);
  CHECK(engine.counters().packets_received == 2);
  CHECK(engine.counters().bytes_received == 2);
}

TEST_CASE("One turn does not deliver without end") {
  lapse::LoopbackNetwork network(2, false);
  FakeClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, settings(true));
  for (int i = 0; i < 100; ++i) send(network.endpoint(Rank(1)), Rank(0), std::byte{1});
  engine.exclusively([&] { engine.turn(); });
  CHECK(client.packets == static_cast<int>(ProgressEngine::kPacketsPerTurn));
  engine.exclusively([&] { engine.turn(3); });
  CHECK(client.packets == static_cast<int>(ProgressEngine::kPacketsPerTurn) + 3);
}

TEST_CASE("Exceptions of packets and submissions reach the client; the rest goes on") {
  lapse::LoopbackNetwork network(2, false);
  FakeClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, settings(true));
  send(network.endpoint(Rank(1)), Rank(0), std::byte{0xff});
  send(network.endpoint(Rank(1)), Rank(0), std::byte{1});
  Job failing(client);
  failing.fails = true;
  Job good(client);
  engine.exclusively([&] {
    // Submitted while the lock is held: both wait for the end of this function.
    std::thread([&] {
      engine.submit(failing);
      engine.submit(good);
    }).join();
    CHECK(good.handled == 0);
  });
  CHECK(failing.handled == 1);
  CHECK(good.handled == 1);
  engine.exclusively([&] { engine.turn(); });
  CHECK(client.packets == 2);
  CHECK(client.failures == std::vector<std::string>{"submission", "packet"});
}

TEST_CASE("Submissions can be taken by the holder of the lock") {
  lapse::LoopbackNetwork network(1, false);
  FakeClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, settings(true));
  Job job(client);
  engine.exclusively([&] {
    std::thread([&] { engine.submit(job); }).join();
    CHECK(engine.take_submissions() == &job);
  });
  CHECK(job.handled == 0);
}

TEST_CASE("A wait returns at once when there is nothing to wait for, and helps when there is") {
  lapse::LoopbackNetwork network(2, false);
  FakeClient client;
  ProgressEngine engine(network.endpoint(Rank(0)), client, settings(true));
  Doorbell bell;
  engine.wait(bell, [] { return true; });
  CHECK(engine.counters().turns == 0);
  send(network.endpoint(Rank(1)), Rank(0), std::byte{1});
  engine.wait(bell, [&] { return client.packets == 1; });
  CHECK(engine.counters().helper_turns >= 1);
}

TEST_CASE(
    "Every submission of many threads is handled once, one at a time, whichever thread drives the engine") {
  for (const bool helping : {true, false}) {
    lapse::ThreadedLoopback network(1);
    FakeClient client;
    ProgressEngine engine(network.endpoint(Rank(0)), client, settings(helping));
    constexpr int kThreads = 4;
    constexpr int kJobs = 3000;
    std::atomic<int> working{kThreads};
    std::atomic<int> wrong{0};
    std::vector<Doorbell> bells(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        Job job(client);
        job.bell = &bells[static_cast<std::size_t>(i)];
        for (int number = 1; number <= kJobs; ++number) {
          engine.submit(job);
          engine.wait(*job.bell, [&] { return job.handled.load(std::memory_order_acquire) >= number; });
          if (job.handled != number) wrong.fetch_add(1);
        }
        // The engine may still be ringing the bell: waits until it has left the submission.
        engine.exclusively([] {});
        working.fetch_sub(1);
        engine.notify();
      });
    }
    engine.serve([&] { return working.load() == 0; });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(client.overlaps == 0);
    CHECK(engine.quiet());
  }
}

TEST_CASE("Two ranks whose threads all sleep wake each other by messages") {
  lapse::ThreadedLoopback network(2);
  FakeClient clients[2];
  ProgressEngine first(network.endpoint(Rank(0)), clients[0], settings(true));
  ProgressEngine second(network.endpoint(Rank(1)), clients[1], settings(true));
  constexpr int kRounds = 300;
  const auto play = [&](ProgressEngine& engine, FakeClient& client, Rank self) {
    Doorbell bell;
    const Rank other(1 - self.value());
    for (int round = 1; round <= kRounds; ++round) {
      if (self == Rank(0)) {
        engine.exclusively([&] { send(network.endpoint(self), other, std::byte{1}); });
      }
      engine.wait(bell, [&] { return client.packets >= round; });
      if (self == Rank(1)) {
        engine.exclusively([&] { send(network.endpoint(self), other, std::byte{1}); });
      }
    }
  };
  std::thread thread([&] { play(second, clients[1], Rank(1)); });
  play(first, clients[0], Rank(0));
  thread.join();
  CHECK(clients[0].packets == kRounds);
  CHECK(clients[1].packets == kRounds);
}

TEST_CASE(
    "Where processors are scarce, who waits for other workers leaves everything to the serving thread") {
  lapse::LoopbackNetwork network(1, false);
  FakeClient client;
  ProgressEngine::Settings crowded = settings(true);
  crowded.polling = false;
  ProgressEngine engine(network.endpoint(Rank(0)), client, crowded);
  for (const bool scarce : {true, false}) {
    engine.set_crowded(scarce);
    const std::uint64_t turns_before = engine.counters().helper_turns;
    Doorbell bell;
    std::atomic<int> looks{0};
    std::atomic<bool> left{false};
    std::jthread waiter([&] {
      engine.wait(
          bell, [&] { return looks.fetch_add(1) >= 10; }, ProgressEngine::WaitFor::workers);
      left = true;
      engine.notify();
    });
    engine.serve([&] { return left.load(); });
    waiter.join();
    CHECK((engine.counters().helper_turns == turns_before) == scarce);
  }
}

TEST_CASE("A thread that leaves the transport in the middle of a send wakes the serving thread") {
  // A send that needs several polls of any thread.
  class SlowTransport : public lapse::test::BorrowedTransport {
   public:
    explicit SlowTransport(Transport& transport) : BorrowedTransport(transport) {}
    std::size_t poll(const Handler& handler, std::size_t limit) override {
      polls_left.fetch_sub(1);
      return BorrowedTransport::poll(handler, limit);
    }
    bool idle() const override { return polls_left.load() <= 0; }
    Doorbell* doorbell() override { return &bell; }

    std::atomic<int> polls_left{0};
    Doorbell bell;
  };
  lapse::LoopbackNetwork network(1, false);
  SlowTransport transport(network.endpoint(Rank(0)));
  FakeClient client;
  ProgressEngine engine(transport, client, settings(true));
  constexpr std::chrono::seconds kLong{20};
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<bool> asleep{false};
  std::jthread server([&] {
    transport.bell.sleep(kLong, [&] {
      asleep = true;
      return false;
    });
  });
  while (!asleep) std::this_thread::yield();
  transport.polls_left = 100;
  Job job(client);
  engine.submit(job);
  server.join();
  CHECK(transport.polls_left > 0);
  CHECK(std::chrono::steady_clock::now() - begin < kLong);
}
