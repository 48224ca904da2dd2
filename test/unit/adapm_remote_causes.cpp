#include "adapm/remote_causes.hpp"

#include "adapm/intent_counters.hpp"
#include "lapse/protocol/table/intent_source.hpp"
#include "test/support/catch.hpp"
#include "test/unit/adapm_rounds.hpp"

using namespace adapm;
using Catch::Matchers::Contains;
using lapse::Clock;
using lapse::Key;
using lapse::TableId;

namespace {

constexpr std::int64_t kLate = 1000;  // clocks after the beginning of a phase

// A worker of clock kLate whose rounds take few clocks.
test::Rounds late_worker() {
  test::Rounds rounds(1, {.timing = {.initial_rate = 1}});
  rounds.rounds.add_table(TableId(0), "first");
  rounds.rounds.add_table(TableId(1), "second");
  for (std::int64_t clock = 0; clock < kLate; clock += 10) {
    rounds.advance(0, 10);
    rounds.round();
  }
  return rounds;
}

// The cause of one access to key 5 of table 0 that stands for three.
RemoteCause cause_of(test::Rounds& rounds, bool wanted = false, bool asked = false, bool copied = false) {
  lapse::progress_role.assert_held();
  const std::vector<RemoteCauses> before = rounds.rounds.causes();
  REQUIRE(rounds.rounds.counts_remote(0));
  rounds.rounds.count_remote({.table = TableId(0),
                              .key = Key(5),
                              .worker = 0,
                              .wanted = wanted,
                              .asked = asked,
                              .copied = copied,
                              .weight = 3});
  const RemoteCauses after = rounds.rounds.causes().front();
  for (const RemoteCauseName& name : kRemoteCauses) {
    const std::uint64_t old = before.empty() ? 0 : before.front()[name.cause];
    if (after[name.cause] == old + 3) return name.cause;
  }
  FAIL("no cause has grown by 3");
  return RemoteCause::never_announced;
}

}  // namespace

TEST_CASE("The names of causes are in the order of the causes") {
  for (std::size_t i = 0; i < kRemoteCauses.size(); ++i)
    CHECK(static_cast<std::size_t>(kRemoteCauses[i].cause) == i);
}

TEST_CASE("An access in another domain has a cause: how its key was announced") {
  test::Rounds rounds = late_worker();
  CHECK(cause_of(rounds) == RemoteCause::never_announced);
  rounds.signal(0, {5}, kLate, kLate + 10, 1);
  rounds.signal(0, {4, 6}, kLate, kLate + 10);
  CHECK(cause_of(rounds) == RemoteCause::never_announced);
  rounds.signal(0, {4, 5}, kLate + 500, kLate + 501);
  CHECK(cause_of(rounds) == RemoteCause::before_start);
  rounds.signal(0, {5}, kLate, kLate + 1);
  CHECK(cause_of(rounds) == RemoteCause::announced_late);
  CHECK(cause_of(rounds, true, true) == RemoteCause::on_its_way);
  CHECK(cause_of(rounds, true, false) == RemoteCause::not_given);
  CHECK(cause_of(rounds, true, true, true) == RemoteCause::older_copy);
}

TEST_CASE("Keys are found behind many others: at both ends of what waits, and in what was signaled last") {
  test::Rounds rounds = late_worker();
  test::Numbers others;
  for (std::uint64_t i = 0; i < 1000; ++i) others.push_back(10 + i);
  for (std::int64_t clock = 500; clock < 800; ++clock)
    rounds.signal(0, others, kLate + clock, kLate + clock + 1);
  rounds.signal(0, {5}, kLate, kLate + 1);
  CHECK(cause_of(rounds) == RemoteCause::announced_late);
  rounds.round();
  rounds.advance(0);
  rounds.round();
  CHECK(cause_of(rounds) == RemoteCause::after_end);
  for (std::int64_t clock = 1; clock < 41; ++clock) {
    rounds.signal(0, {9}, kLate + clock, kLate + clock + 1);
    rounds.round();
    rounds.advance(0);
  }
  rounds.round();
  CHECK(cause_of(rounds) == RemoteCause::never_announced);
  rounds.signal(0, {5}, kLate + 900, kLate + 901);
  rounds.round();
  CHECK(cause_of(rounds) == RemoteCause::before_start);
  // What has ended before a round.
  rounds.signal(0, {5}, kLate + 41, kLate + 42);
  rounds.advance(0);
  CHECK(cause_of(rounds) == RemoteCause::after_end);
}

TEST_CASE("Keys of intents that have ended are known for a while, also if they had ended when signaled") {
  test::Rounds rounds = late_worker();
  rounds.signal(0, {5}, kLate, kLate + 1);
  rounds.round();
  rounds.advance(0);
  rounds.round();
  CHECK(cause_of(rounds) == RemoteCause::after_end);
  for (int i = 0; i < 40; ++i) rounds.signal(0, {9}, kLate + 1, kLate + 2);
  rounds.round();
  rounds.advance(0);
  rounds.round();
  CHECK(cause_of(rounds) == RemoteCause::never_announced);
  rounds.signal(0, {8}, kLate, kLate + 1, 1);
  CHECK(cause_of(rounds) == RemoteCause::never_announced);
  rounds.signal(0, {8}, kLate, kLate + 1);
  CHECK(cause_of(rounds) == RemoteCause::after_end);
  rounds.signal(0, {8}, kLate + 2, kLate + 3);
  CHECK(cause_of(rounds) == RemoteCause::never_announced);
}

TEST_CASE("At the beginning of a phase, what is announced cannot be here yet") {
  test::Rounds rounds(1);
  rounds.rounds.add_table(TableId(0), "first");
  rounds.signal(0, {5}, 0, 10);
  CHECK(cause_of(rounds) == RemoteCause::beginning);
  CHECK(cause_of(rounds, true, true) == RemoteCause::beginning);
  CHECK(cause_of(rounds, true, false) == RemoteCause::not_given);
  // Also if the clock stands still.
  for (int round = 0; round < 10; ++round) rounds.round();
  CHECK(cause_of(rounds, true, true) == RemoteCause::on_its_way);
}

TEST_CASE(
    "Ranges and large intents are searched, and accesses of unknown workers and tables are not counted") {
  lapse::progress_role.assert_held();
  test::Rounds rounds = late_worker();
  rounds.signal_range(0, {Key(3), Key(6)}, kLate + 900, kLate + 901);
  CHECK(cause_of(rounds) == RemoteCause::before_start);
  rounds.signal_range(0, {Key(100), Key(100'000)}, kLate, kLate + 100);
  rounds.round();
  CHECK(cause_of(rounds) == RemoteCause::before_start);
  rounds.signal_range(0, {Key(0), Key(100'000)}, kLate, kLate + 100);
  rounds.round();
  CHECK(cause_of(rounds) == RemoteCause::announced_late);
  const std::vector<RemoteCauses> before = rounds.rounds.causes();
  rounds.rounds.add_table(TableId(9), "last");
  rounds.rounds.count_remote({.table = TableId(7), .key = Key(5), .worker = 0, .weight = 1});
  rounds.rounds.count_remote({.table = TableId(10), .key = Key(5), .worker = 0, .weight = 1});
  CHECK(rounds.rounds.causes() == before);
  CHECK_FALSE(rounds.rounds.counts_remote(1));
  rounds.rounds.end_phase();
  CHECK_FALSE(rounds.rounds.counts_remote(0));
}

TEST_CASE("Causes of ranks add up by table, and those of at least a twentieth are shown with advice") {
  IntentStatistics statistics{.ranks = {IntentCounters{}}, .causes = {}};
  CHECK(statistics.summary_lines() == "intents      none\n");
  statistics.ranks[0].intents = 7;
  CHECK_THAT(statistics.summary_lines(), !Contains("causes"));
  RemoteCauses first{.table = "first"};
  first[RemoteCause::after_end] = 60;
  first[RemoteCause::on_its_way] = 4;
  RemoteCauses second{.table = "sec\"ond"};
  second[RemoteCause::never_announced] = 36;
  statistics.add_causes({first});
  statistics.add_causes({second, first});
  REQUIRE(statistics.causes.size() == 2);
  CHECK(statistics.causes[0][RemoteCause::after_end] == 120);
  CHECK(statistics.causes[0].sum() == 128);
  CHECK(statistics.causes[0].largest().name == "after_end");
  const std::string text = statistics.summary_lines();
  CHECK_THAT(
      text, Contains("causes       of 164 accesses of keys in other domains\n"
                     "             73 %: table 'first', in an intent that had ended: let intents end after"));
  CHECK_THAT(text, Contains("\n             22 %: table 'sec\"ond', in no intent"));
  CHECK_THAT(text, !Contains("not here yet"));
  statistics.ranks[0].intents = 0;
  CHECK_THAT(statistics.summary_lines(), Contains("intents      none\ncauses       of 164"));
  CHECK_THAT(statistics.to_json(), Contains(R"("remote": [{"table": "first", "never_announced": 0,)") &&
                                       Contains(R"({"table": "sec\"ond", "never_announced": 36,)"));
}
