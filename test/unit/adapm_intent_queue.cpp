#include "adapm/intent_queue.hpp"

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

void add(IntentQueue& queue, std::uint64_t key, std::int64_t start, std::int64_t end) {
  const std::vector<Key> keys{Key(key)};
  queue.add(TableId(0), keys, Clock(start), Clock(end), IntentType::read_write);
}

struct Changes {
  Keys on;
  Keys off;
  bool operator==(const Changes&) const = default;
};

Changes round(IntentQueue& queue, std::int64_t now, std::int64_t cutoff) {
  Changes changes;
  queue.begin_round(
      Clock(now), Clock(cutoff), [&](const Intent& intent) { changes.on.push_back(intent.keys[0].value()); },
      [&](const Intent& intent) { changes.off.push_back(intent.keys[0].value()); });
  return changes;
}

}  // namespace

TEST_CASE("An intent becomes actionable before its start, once, and ends at its end") {
  IntentQueue queue;
  add(queue, 1, 10, 20);
  add(queue, 2, 5, 6);
  CHECK(round(queue, 0, 5) == Changes{});
  CHECK(queue.waiting() == 2);
  CHECK(round(queue, 0, 11) == Changes{{2, 1}, {}});
  CHECK(round(queue, 5, 30) == Changes{});
  CHECK(round(queue, 6, 30) == Changes{{}, {2}});
  CHECK(queue.active() == 1);
  CHECK(round(queue, 19, 40) == Changes{});
  CHECK(round(queue, 20, 40) == Changes{{}, {1}});
  CHECK(queue.active() == 0);
}

TEST_CASE("An intent whose start has passed is actionable at once; one that has ended is dropped") {
  IntentQueue queue;
  add(queue, 1, 0, 100);
  add(queue, 2, 0, 50);
  CHECK(round(queue, 50, 60) == Changes{{1}, {}});
  CHECK(queue.waiting() == 0);
}

TEST_CASE("Intents of a worker end with its phase") {
  IntentQueue queue;
  add(queue, 1, 0, 100);
  add(queue, 2, 90, 100);
  CHECK(round(queue, 0, 10) == Changes{{1}, {}});
  add(queue, 3, 0, 100);
  Keys off;
  queue.end_all([&](const Intent& intent) { off.push_back(intent.keys[0].value()); });
  CHECK(off == Keys{1});
  CHECK(round(queue, 0, 1000) == Changes{});
}

TEST_CASE("Intents that loaders add meanwhile are counted as often on as off") {
  constexpr std::uint64_t kIntents = 2000;
  IntentQueue queue;
  std::vector<std::thread> loaders;
  for (std::uint64_t loader = 0; loader < 2; ++loader) {
    loaders.emplace_back([&queue, loader] {
      lapse::RandomEngine random(loader);
      for (std::uint64_t i = 0; i < kIntents; ++i) {
        const auto start = static_cast<std::int64_t>(random.below(1000));
        add(queue, loader * kIntents + i, start, start + 1 + static_cast<std::int64_t>(random.below(50)));
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
  for (std::int64_t now = 0; now < 1000; ++now) count(round(queue, now, now + 20));
  for (std::thread& loader : loaders) loader.join();
  count(round(queue, 0, 10'000));
  count(round(queue, 10'000, 10'000));
  CHECK(actionable.size() > kIntents / 2);
  CHECK(most > 0);
  CHECK(queue.active() + queue.waiting() == 0);
}
