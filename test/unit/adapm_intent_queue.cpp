#include "adapm/intents/intent_queue.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::TableId;

namespace {

using Keys = std::vector<std::uint64_t>;

constexpr std::uint64_t kPhase = 1;

void add(IntentQueue& queue, std::uint64_t key, std::int64_t start, std::int64_t end) {
  queue.add(kPhase, {.table = TableId(0), .start = Clock(start), .end = Clock(end), .keys = {Key(key)}});
}

struct Changes {
  Keys on;
  Keys off;
  Keys dropped;
  bool operator==(const Changes&) const = default;
};

Changes round(IntentQueue& queue, std::int64_t now, std::int64_t cutoff) {
  Changes changes;
  queue.activate(
      Clock(now), Clock(cutoff),
      [&](const Intent& intent) {
        changes.on.push_back(intent.keys[0].value());
        return true;
      },
      [&](const Intent& intent) { changes.dropped.push_back(intent.keys[0].value()); });
  queue.expire(Clock(now), [&](const Intent& intent) { changes.off.push_back(intent.keys[0].value()); });
  return changes;
}

}  // namespace

TEST_CASE("An intent becomes actionable before its start, once, and ends at its end") {
  IntentQueue queue;
  queue.open(kPhase);
  add(queue, 1, 10, 20);
  add(queue, 2, 5, 6);
  CHECK(round(queue, 0, 5) == Changes{});
  CHECK(queue.waiting() == 2);
  CHECK(round(queue, 0, 11) == Changes{{2, 1}, {}, {}});
  CHECK(round(queue, 5, 30) == Changes{});
  CHECK(round(queue, 6, 30) == Changes{{}, {2}, {}});
  CHECK(queue.active() == 1);
  CHECK(round(queue, 19, 40) == Changes{});
  CHECK(round(queue, 20, 40) == Changes{{}, {1}, {}});
  CHECK(queue.active() == 0);
}

TEST_CASE("An intent whose start has passed is actionable at once; one that has ended is dropped") {
  IntentQueue queue;
  queue.open(kPhase);
  add(queue, 1, 0, 100);
  add(queue, 2, 0, 50);
  CHECK(round(queue, 50, 60) == Changes{{1}, {}, {2}});
  CHECK(queue.waiting() == 0);
}

TEST_CASE("Intents of a worker end with its phase") {
  IntentQueue queue;
  queue.open(kPhase);
  add(queue, 1, 0, 100);
  add(queue, 2, 90, 100);
  CHECK(round(queue, 0, 10) == Changes{{1}, {}, {}});
  add(queue, 3, 0, 100);
  queue.close();
  CHECK_FALSE(queue.add(kPhase, {.start = Clock(0), .end = Clock(100), .keys = {Key(4)}}));
  CHECK(queue.end_all() == 2);
  // The next phase continues the clock, and adds intents before the next round.
  queue.open(kPhase + 1);
  CHECK_FALSE(queue.add(kPhase, {.start = Clock(0), .end = Clock(100), .keys = {Key(5)}}));
  CHECK(queue.add(kPhase + 1, {.start = Clock(0), .end = Clock(100), .keys = {Key(6)}}));
  CHECK(round(queue, 0, 1000) == Changes{{6}, {1}, {}});
}

TEST_CASE("An intent that waits takes 8 bytes for a key, and its own") {
  constexpr std::size_t kIntents = 1024;
  constexpr std::size_t kKeys = 100;
  IntentQueue queue;
  queue.open(kPhase);
  const std::vector<Key> keys(kKeys);
  for (std::size_t i = 0; i < kIntents; ++i)
    REQUIRE(queue.add(kPhase, {.start = Clock(5), .end = Clock(6)}, keys));
  // The list of intents grows by doubling.
  CHECK(queue.memory_bytes() <= kIntents * (kKeys * sizeof(Key) + 2 * sizeof(Intent)));
  CHECK(sizeof(Intent) == 64);
  // Also after thousands of rounds.
  for (std::int64_t now = 0; now < 5000; ++now) {
    REQUIRE(queue.add(kPhase, {.start = Clock(now + 5), .end = Clock(now + 6)}, keys));
    round(queue, now, now + 10);
  }
  CHECK(queue.memory_bytes() <= 2 * kIntents * (kKeys * sizeof(Key) + 2 * sizeof(Intent)));
}

TEST_CASE("Intents that loaders add meanwhile are counted as often on as off") {
  constexpr std::uint64_t kIntents = 2000;
  IntentQueue queue;
  queue.open(kPhase);
  std::vector<std::thread> loaders;
  std::array<std::atomic<std::uint64_t>, 2> added{};
  for (std::uint64_t loader = 0; loader < 2; ++loader) {
    loaders.emplace_back([&queue, &added, loader] {
      lapse::RandomEngine random(loader);
      for (std::uint64_t i = 0; i < kIntents; ++i) {
        const auto start = static_cast<std::int64_t>(i + random.below(100));
        add(queue, loader * kIntents + i, start, start + 1 + static_cast<std::int64_t>(random.below(50)));
        added[loader] = i + 1;
      }
    });
  }
  std::map<std::uint64_t, int> actionable;
  std::size_t most = 0;
  const auto count = [&](const Changes& changes) {
    for (const std::uint64_t key : changes.on) CHECK(++actionable[key] == 1);
    for (const std::uint64_t key : changes.off) CHECK(--actionable[key] == 0);
    most = std::max(most, queue.active());
  };
  // The clock follows the slower loader, so that no intent has ended when it is added.
  std::uint64_t now = 0;
  for (; now < kIntents; now = std::min(added[0].load(), added[1].load()))
    count(round(queue, static_cast<std::int64_t>(now), static_cast<std::int64_t>(now) + 20));
  for (std::thread& loader : loaders) loader.join();
  count(round(queue, kIntents, 10'000));
  count(round(queue, 10'000, 10'000));
  CHECK(actionable.size() > 100);  // at least those that start last
  CHECK(most > 0);
  CHECK(queue.active() + queue.waiting() == 0);
}
