// Intents of more keys than one round handles.
#include <algorithm>
#include <numeric>

#include "test/unit/adapm_rounds.hpp"

using namespace adapm;
using adapm::test::Numbers;
using adapm::test::Rounds;
using lapse::Clock;
using lapse::Key;

namespace {

constexpr std::uint64_t kRound = LargeIntents::kKeysPerRound;
constexpr std::uint64_t kLargeRange = 100'000;
constexpr std::uint64_t kRoundsOfRange = (kLargeRange + kRound - 1) / kRound;

// Runs rounds until none is due, and returns their number. No round handles more than `limit` keys.
std::uint64_t drain(Rounds& rank, std::uint64_t limit = kRound) {
  std::uint64_t rounds = 0;
  for (; rank.rounds.pending(); ++rounds) {
    rank.round();
    const auto& calls = rank.sink.calls;
    REQUIRE(std::accumulate(calls.begin(), calls.end(), std::uint64_t{0}) <= limit);
    REQUIRE(std::ranges::all_of(calls, [](std::size_t keys) { return keys <= IntentRounds::kKeysPerWant; }));
  }
  return rounds;
}

bool all_once(const Rounds& rank) {
  return std::ranges::all_of(rank.sink.counts, [](const auto& wanted) { return wanted.second == 1; });
}

}  // namespace

TEST_CASE("A large range is wanted over several rounds, and unwanted over several") {
  Rounds rank(1);
  rank.signal_range(0, {Key(7), Key(7 + kLargeRange)}, 0, 3);
  rank.round();
  CHECK(rank.sink.counts.size() == kRound);
  CHECK(rank.sink.wanted().back() == 7 + kRound - 1);
  CHECK(rank.rounds.pending());
  CHECK(drain(rank) == kRoundsOfRange - 1);
  CHECK(rank.sink.counts.size() == kLargeRange);
  CHECK(rank.sink.wanted().back() == 7 + kLargeRange - 1);
  CHECK(all_once(rank));
  rank.advance(0, 2);
  CHECK(drain(rank) == 0);
  rank.advance(0);
  CHECK(rank.rounds.pending());
  CHECK(drain(rank) == kRoundsOfRange);
  CHECK(rank.sink.counts.empty());
  const IntentCounters counters = rank.rounds.counters();
  CHECK(counters.actionable_intents == 1);
  CHECK(counters.actionable_keys == kLargeRange);
}

TEST_CASE("Repeated keys of a long list are removed once, and the list is passed on in pieces") {
  Rounds rank(1);
  Numbers many;
  for (std::uint64_t i = 0; i < 200'000; ++i) many.push_back(i % 70'000);
  rank.signal(0, many, 0, 1);
  rank.round();
  drain(rank);
  CHECK(rank.sink.counts.size() == 70'000);
  CHECK(all_once(rank));
  CHECK(rank.rounds.counters().actionable_keys == 70'000);
  rank.advance(0);
  drain(rank);
  CHECK(rank.sink.counts.empty());
}

TEST_CASE("A large intent that ends while only a part is wanted ends for that part") {
  Rounds rank(1);
  rank.signal_range(0, {Key(0), Key(kLargeRange)}, 0, 1);
  // The second intent ends before its turn.
  rank.signal_range(0, {Key(kLargeRange), Key(2 * kLargeRange)}, 0, 1);
  rank.round();
  rank.round();
  CHECK(rank.sink.counts.size() == 2 * kRound);

  SECTION("by its worker's clock") {
    rank.advance(0);
  }
  SECTION("with its phase") {
    rank.rounds.end_phase();
  }
  SECTION("with its phase, in the next one") {
    rank.rounds.end_phase();
    rank.phase = rank.rounds.begin_phase(1);
  }
  rank.round();
  CHECK(rank.sink.on.empty());
  CHECK(rank.sink.counts.size() == kRound);
  CHECK(drain(rank) <= 2);
  CHECK(rank.sink.counts.empty());
}

TEST_CASE("A phase ends also for large ranges, in several rounds") {
  Rounds rank(2);
  for (const std::size_t worker : {std::size_t{0}, std::size_t{1}})
    rank.signal_range(worker, {Key(0), Key(kLargeRange)}, 0, 100);
  rank.round();
  CHECK(rank.sink.counts.size() == kRound);
  CHECK(drain(rank, 2 * kRound) == kRoundsOfRange - 1);
  CHECK(rank.sink.counts.size() == kLargeRange);
  rank.rounds.end_phase();
  CHECK(drain(rank, 2 * kRound) == kRoundsOfRange);
  CHECK(rank.sink.counts.empty());
}

TEST_CASE("Other intents do not wait for a large one") {
  Rounds rank(1);
  rank.signal_range(0, {Key(0), Key(kLargeRange)}, 0, 100);
  rank.signal(0, {1'000'000}, 0, 1);
  rank.round();
  CHECK(rank.sink.wanted().back() == 1'000'000);
  rank.advance(0);
  rank.signal(0, {2'000'000}, 0, 3);
  rank.round();
  CHECK(rank.sink.wanted().back() == 2'000'000);
  CHECK(rank.sink.counts.size() == 2 * kRound + 1);
}

TEST_CASE("A large range that passes from one intent or worker to the next stays wanted") {
  Rounds rank(2);
  const KeyRange range{Key(0), Key(kLargeRange)};
  rank.signal_range(0, range, 0, 1);
  rank.round();
  drain(rank);
  rank.signal_range(1, range, 0, 5);
  rank.advance(0);
  while (rank.rounds.pending()) {
    rank.round();
    REQUIRE(rank.sink.off.empty());
  }
  CHECK(rank.sink.counts.size() == kLargeRange);
  CHECK(all_once(rank));
}
