// The progress engine over a transport whose packets wait for space in the receiver's memory.
#include <atomic>
#include <chrono>
#include <thread>

#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using namespace lapse;

namespace {

class NoClient final : public EngineClient {
 public:
  void handle_packet(Rank, std::span<const std::byte>) override {}
  void end_turn() override {}
  void handle_failure(std::exception_ptr) noexcept override {}
};

// The packet that the worker, which is the thread that made this object, sends when it finds the server
// thread in the given sleep. It waits until the next poll.
class FullRing final : public test::BorrowedTransport {
 public:
  static constexpr std::uint32_t kDeepSleep = 1;
  static constexpr std::uint32_t kLightSleep = 2;

  FullRing(Transport& transport, std::uint32_t asleep) : BorrowedTransport(transport), asleep_(asleep) {}
  std::size_t poll(const Handler& handler, std::size_t limit) override {
    waits = std::this_thread::get_id() == worker && !sent && word == asleep_;
    if (waits) sent = true;
    return BorrowedTransport::poll(handler, limit);
  }
  bool idle() const override { return !waits; }
  bool waits_for_room() const override { return waits; }
  Doorbell* doorbell() override { return &bell; }

  const std::thread::id worker = std::this_thread::get_id();
  std::atomic<bool> sent{false};
  std::atomic<bool> waits{false};
  Doorbell::Word word{0};
  Doorbell bell{word};

 private:
  const std::uint32_t asleep_;
};

// Longer than a loaded machine delays a thread.
constexpr std::chrono::seconds kLong{10};

ProgressEngine::Settings long_sleeps() {
  ProgressEngine::Settings settings;
  settings.idle.polls_per_yield = 0;
  settings.idle.spin = kLong;
  settings.idle.sleep_min = settings.idle.sleep_max = kLong;
  return settings;
}

// Sends the packet from this thread, leaves, and waits until the server thread has polled. Returns the time,
// without the time that the worker needed to find the server thread in the right sleep.
void check_wakes(ProgressEngine& engine, const FullRing& transport, Doorbell& bell) {
  std::atomic<bool> over{false};
  std::jthread server([&] { engine.serve([&] { return over.load(); }); });
  engine.wait(bell, [&] { return transport.sent.load(); });
  const auto begin = std::chrono::steady_clock::now();
  while (transport.waits) std::this_thread::yield();
  CHECK(std::chrono::steady_clock::now() - begin < kLong / 2);
  over = true;
  engine.notify();
}

}  // namespace

TEST_CASE(
    "A thread that leaves while a packet waits for room wakes the serving thread, also from light sleep") {
  LoopbackNetwork network(1, false);
  FullRing transport(network.endpoint(Rank(0)), FullRing::kLightSleep);
  NoClient client;
  ProgressEngine engine(transport, client, long_sleeps());
  Doorbell bell;
  check_wakes(engine, transport, bell);
}

// Before a worker sleeps while the server thread exists, it polls once more.
TEST_CASE("So does one that sends when it looks for messages before it sleeps") {
  LoopbackNetwork network(1, false);
  FullRing transport(network.endpoint(Rank(0)), FullRing::kDeepSleep);
  NoClient client;
  ProgressEngine::Settings settings = long_sleeps();
  settings.idle.spin = std::chrono::milliseconds(1);
  ProgressEngine engine(transport, client, settings);
  Doorbell bell;
  // The worker polls once more only if the server thread is in light sleep at that moment, which depends on
  // scheduling. Until then, the ringer keeps waking the worker.
  std::jthread ringer([&] {
    while (!transport.sent) {
      bell.ring();
      std::this_thread::yield();
    }
  });
  check_wakes(engine, transport, bell);
}
