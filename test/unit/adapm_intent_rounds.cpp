#include <algorithm>
#include <limits>
#include <set>
#include <thread>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"
#include "test/unit/adapm_rounds.hpp"

using namespace adapm;
using adapm::test::Numbers;
using adapm::test::Rounds;
using adapm::test::WantRecorder;
using lapse::Clock;
using lapse::Key;
using lapse::TableId;

TEST_CASE("Keys are wanted from when the timer says so until the end of their intent") {
  Rounds rank(1);
  rank.signal(0, {1, 2}, 30, 32);
  rank.signal(0, {3}, 39, 41);  // The first window has 39 clocks.
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{1, 2});
  rank.advance(0, 30);
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{1, 2, 3});
  rank.advance(0, 2);
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{3});
  rank.advance(0, 9);
  rank.round();
  CHECK(rank.sink.wanted().empty());
  const IntentCounters counters = rank.rounds.counters();
  CHECK(counters.rounds == 4);
  CHECK(counters.clocks == 41);
  CHECK(counters.advances == 3);
  CHECK(counters.intents == 2);
  CHECK(counters.keys == 3);
  CHECK(counters.actionable_intents == 2);
  CHECK(counters.actionable_keys == 3);
  CHECK(counters.lead_clocks == 30 + 9);
  CHECK(counters.lead_max_clocks == 30);
  CHECK(counters.late_intents == 0);
}

TEST_CASE("A key that passes from one intent or worker to another stays wanted") {
  Rounds rank(2);
  rank.signal(0, {7}, 0, 1);
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{7});
  // Worker 1 wants the key from the round in which worker 0 stops wanting it.
  rank.signal(1, {7}, 0, 5);
  rank.advance(0);
  rank.round();
  CHECK(rank.sink.counts.at({0, 7}) == 1);
  CHECK(rank.sink.off.empty());
}

TEST_CASE("Keys may repeat in an intent, and intents overlap") {
  Rounds rank(1);
  rank.signal(0, {5, 5, 6, 5, 6}, 0, 10);
  rank.signal(0, {6}, 0, 2);
  rank.signal(0, {6}, 0, 10, 1);
  rank.round();
  CHECK(rank.sink.counts == std::map<WantRecorder::TableKey, int>{{{0, 5}, 1}, {{0, 6}, 2}, {{1, 6}, 1}});
  rank.advance(0, 2);
  rank.round();
  CHECK(rank.sink.counts == std::map<WantRecorder::TableKey, int>{{{0, 5}, 1}, {{0, 6}, 1}, {{1, 6}, 1}});
  rank.advance(0, 8);
  rank.round();
  CHECK(rank.sink.counts.empty());
  CHECK(rank.rounds.counters().actionable_keys == 4);
}

TEST_CASE("Lists and ranges of many keys are passed on in one round, without repeated keys") {
  Rounds rank(1);
  Numbers many;
  for (std::uint64_t i = 0; i < 200'000; ++i) many.push_back(i % 16'000);
  rank.signal(0, many, 0, 1);
  rank.round();
  CHECK(rank.sink.counts.size() == 16'000);
  CHECK(rank.sink.calls == std::vector<std::size_t>{16'000});
  const KeyRange range{Key(100'000), Key(100'000 + 2 * IntentRounds::kKeysPerWant + 1)};
  rank.signal_range(0, range, 0, 2);
  rank.advance(0);
  rank.round();
  CHECK(rank.sink.counts.size() == range.size());
  CHECK(rank.sink.wanted().front() == 100'000);
  rank.advance(0);
  rank.round();
  CHECK(rank.sink.counts.empty());
}

TEST_CASE("An intent may start at any clock") {
  Rounds rank(1);
  rank.advance(0, 5);
  rank.signal(0, {1}, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{1});
  CHECK(rank.rounds.counters().late_intents == 1);
  CHECK(rank.rounds.counters().lead_clocks == 0);
}

TEST_CASE("Intents that have ended are ignored or dropped, and counted") {
  Rounds rank(1);
  rank.advance(0, 10);
  rank.signal(0, {1}, 3, 10);   // has ended
  rank.signal(0, {2}, 20, 20);  // has an empty interval
  rank.signal(0, {3}, 5, 11);   // has begun
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{3});
  rank.signal(0, {4}, 12, 13);
  rank.advance(0, 5);
  rank.round();
  CHECK(rank.sink.wanted().empty());
  const IntentCounters counters = rank.rounds.counters();
  CHECK(counters.intents == 4);
  CHECK(counters.ignored_intents == 2);
  CHECK(counters.dropped_intents == 1);
  CHECK(counters.late_intents == 1);
}

TEST_CASE("Immediate action waits for nothing but the next round") {
  Rounds rank(1, {.technique = Technique::immediate});
  rank.signal(0, {1}, 1'000'000, 1'000'001);
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{1});
}

TEST_CASE("A million intents that are never used cost nothing for each key until they are due") {
  Rounds rank(1);
  for (std::int64_t i = 0; i < 10'000; ++i)
    rank.signal_range(0, {Key(0), Key(1'000'000'000)}, 1000 + i, 1001 + i);
  rank.round();
  CHECK(rank.sink.calls.empty());
  rank.rounds.end_phase();
  rank.round();
  CHECK(rank.sink.calls.empty());
  CHECK(rank.rounds.counters().dropped_intents == 10'000);
}

TEST_CASE("Intents end with the phase of their worker; clocks go on") {
  Rounds rank(2);
  rank.signal(0, {1}, 0, 100);
  rank.signal(1, {2}, 0, 100);
  rank.advance(1, 4);
  rank.round();
  rank.rounds.worker(0)->end_phase();
  const Intent late{.start = Clock(0), .end = Clock(100)};
  const std::vector<Key> keys{Key(3)};
  CHECK_FALSE(rank.rounds.worker(0)->signal(rank.phase, late, keys, true));
  CHECK_FALSE(rank.rounds.worker(0)->signal(rank.phase, late, keys, false));
  rank.round();
  CHECK(rank.sink.wanted() == Numbers{2});
  rank.rounds.end_phase();

  SECTION("in a round after it") {
    rank.round();
    CHECK(rank.sink.wanted().empty());
  }
  SECTION("or in the first round of the next phase") {
    const std::uint64_t last = rank.phase;
    rank.phase = rank.rounds.begin_phase(3);
    CHECK_FALSE(rank.rounds.worker(1)->signal(last, late, keys, true));
    rank.signal(1, {2}, 4, 5);
    rank.signal(2, {9}, 0, 1);
    CHECK(rank.rounds.worker(1)->clock() == Clock(4));
    CHECK(rank.rounds.worker(2)->clock() == Clock(0));
    rank.round();
    CHECK(rank.sink.wanted() == Numbers{2, 9});
    CHECK(rank.sink.counts.at({0, 2}) == 1);  // not counted by the intent of the last phase
    CHECK(rank.sink.off.empty());
  }
}

TEST_CASE("A round is due when wants are to end, and for permanent ones") {
  Rounds rank(1, {.technique = Technique::full_replication});
  CHECK_FALSE(rank.rounds.pending());
  rank.signal(0, {1}, 0, 2);
  rank.round();
  rank.advance(0);
  CHECK_FALSE(rank.rounds.pending());
  rank.advance(0);
  CHECK(rank.rounds.pending());
  rank.round();
  CHECK_FALSE(rank.rounds.pending());
  rank.signal(0, {1}, 0, 100);
  rank.round();
  CHECK_FALSE(rank.rounds.pending());
  rank.rounds.worker(0)->end_phase();
  CHECK(rank.rounds.pending());
  rank.round();
  CHECK_FALSE(rank.rounds.pending());
  const KeyRange keys{Key(0), Key(PermanentWants::kKeysPerRound + 1)};
  rank.rounds.permanent().add(TableId(0), keys, [](Key) { return true; });
  for (const bool pending : {true, false}) {
    rank.round();
    CHECK(rank.rounds.pending() == pending);
  }
  CHECK(rank.rounds.counters().permanent_keys == keys.size());
}

TEST_CASE("What is wanted is what the intents of random workers say") {
  constexpr std::size_t kWorkers = 3;
  constexpr std::int64_t kClocks = 400;
  lapse::RandomEngine random(7);
  Rounds rank(kWorkers, {.technique = Technique::immediate});
  struct Signaled {
    std::size_t worker;
    std::uint64_t key;
    std::int64_t end;
  };
  std::vector<Signaled> intents;
  for (std::int64_t step = 0; step < kClocks; ++step) {
    for (std::uint64_t i = random.below(6); i > 0; --i) {
      const std::size_t worker = random.below(kWorkers);
      const std::int64_t now = rank.rounds.worker(worker)->clock().value();
      const std::int64_t end = now + 1 + static_cast<std::int64_t>(random.below(8));
      intents.push_back({worker, random.below(20), end});
      rank.signal(worker, {intents.back().key}, now + static_cast<std::int64_t>(random.below(2)), end);
    }
    rank.advance(random.below(kWorkers), static_cast<std::int64_t>(random.below(3)));
    // An intent of one clock may end before the round, or begin and end with the same clock.
    rank.round();
    std::set<std::uint64_t> expected;
    for (const Signaled& intent : intents)
      if (rank.rounds.worker(intent.worker)->clock().value() < intent.end) expected.insert(intent.key);
    std::set<std::uint64_t> found;
    for (const std::uint64_t key : rank.sink.wanted()) found.insert(key);
    // Intents with an empty interval are ignored.
    CHECK(std::ranges::includes(expected, found));
    CHECK(found.size() + 2 >= expected.size());
  }
  rank.rounds.end_phase();
  rank.round();
  CHECK(rank.sink.counts.empty());
}

TEST_CASE("Loaders signal while rounds run, and the worker advances") {
  constexpr std::int64_t kIntents = 5000;
  Rounds rank(1);
  std::vector<std::thread> threads;
  for (std::uint64_t loader = 0; loader < 2; ++loader) {
    threads.emplace_back([&, loader] {
      const auto& worker = rank.rounds.worker(0);
      for (std::int64_t i = 0; i < kIntents; ++i) {
        const std::vector<Key> keys{Key(loader), Key(static_cast<std::uint64_t>(i))};
        const std::int64_t now = worker->clock().value();
        const Intent intent{.start = Clock(now + 2), .end = Clock(now + 4)};
        worker->signal(rank.phase, intent, keys, true);
      }
    });
  }
  threads.emplace_back([&] {
    for (std::int64_t i = 0; i < kIntents; ++i) rank.advance(0);
    rank.rounds.worker(0)->end_phase();
  });
  while (!rank.rounds.worker(0)->has_ended()) rank.round();
  for (std::thread& thread : threads) thread.join();
  rank.round();
  CHECK(rank.sink.counts.empty());
}
