#include "lapse/transport/host/doorbell.hpp"

#include <atomic>
#include <thread>

#include "test/support/catch.hpp"

using lapse::Doorbell;
using std::chrono::microseconds;
using std::chrono::seconds;

TEST_CASE("No thread sleeps that has a reason to stay awake") {
  Doorbell bell;
  const auto start = std::chrono::steady_clock::now();
  bell.sleep(seconds(30), [] { return true; });
  CHECK(std::chrono::steady_clock::now() - start < seconds(20));
}

TEST_CASE("A sleeper wakes when its time is over") {
  Doorbell bell;
  bell.sleep(microseconds(500), [] { return false; });
  SUCCEED();
}

TEST_CASE("A ring without a sleeper is not kept") {
  Doorbell bell;
  bell.ring();
  bool asked = false;
  bell.sleep(microseconds(500), [&] {
    asked = true;
    return false;
  });
  CHECK(asked);
}

TEST_CASE("No ring is lost") {
  // Two threads wake each other alternately. A lost ring costs a whole sleep; the limit would reveal that.
  constexpr int kTurns = 20'000;
  constexpr seconds kSleep{10};
  Doorbell bells[2];
  std::atomic<int> turn{0};
  const auto play = [&](int self) {
    for (int i = self; i < kTurns; i += 2) {
      while (turn.load(std::memory_order_acquire) != i) {
        bells[self].sleep(kSleep, [&] { return turn.load(std::memory_order_acquire) == i; });
      }
      turn.store(i + 1, std::memory_order_release);
      bells[1 - self].ring();
    }
  };
  const auto start = std::chrono::steady_clock::now();
  std::thread other(play, 1);
  play(0);
  other.join();
  CHECK(turn == kTurns);
  CHECK(std::chrono::steady_clock::now() - start < kSleep);
}

TEST_CASE("No ring is lost among many ringers") {
  constexpr int kRingers = 3;
  constexpr int kRings = 5000;
  constexpr seconds kSleep{10};
  Doorbell bell;
  std::atomic<int> rung{0};
  std::atomic<int> seen{0};
  std::vector<std::thread> ringers;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRingers; ++i) {
    ringers.emplace_back([&] {
      for (int ring = 0; ring < kRings; ++ring) {
        const int mine = rung.fetch_add(1, std::memory_order_acq_rel) + 1;
        bell.ring();
        // At most a few rings ahead of the sleeper, so that it falls asleep repeatedly.
        while (seen.load(std::memory_order_acquire) + kRingers < mine) std::this_thread::yield();
      }
    });
  }
  int last = 0;
  while (last < kRingers * kRings) {
    bell.sleep(kSleep, [&] { return rung.load(std::memory_order_acquire) != last; });
    last = rung.load(std::memory_order_acquire);
    seen.store(last, std::memory_order_release);
  }
  for (std::thread& ringer : ringers) ringer.join();
  CHECK(std::chrono::steady_clock::now() - start < kSleep);
}
