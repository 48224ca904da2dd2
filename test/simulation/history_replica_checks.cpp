// Tests the checks of histories of replicated tables, and of counters with resets.
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/history_counters.hpp"
#include "test/support/history_live_counters.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr Key kReplicated{0};
constexpr CounterRules kEventual{.eventual = true};
constexpr CounterRules kResets{.resets = true};
constexpr CounterRules kEventualResets{.eventual = true, .resets = true};

// A log of one key: pushes, then pulls.
CounterLog eventual_log(std::size_t worker, std::size_t workers, int pushes, const std::vector<Counts>& pulls,
                        Copy copy = Copy::any) {
  CounterLog log(worker, workers, 1, kEventual);
  for (int i = 0; i < pushes; ++i) log.pushed(kReplicated);
  for (const Counts& counts : pulls) log.pulled(kReplicated, log.next_position(), {pushes}, counts, copy);
  return log;
}

void pull(CounterLog& log, Counts counts) {
  log.pulled(kReplicated, log.next_position(), log.own(kReplicated), std::move(counts));
}

// Worker 0 resets key 0, worker 1 pushes.
struct ResetLogs {
  explicit ResetLogs(const CounterRules& rules) : setter(0, 2, 1, rules), other(1, 2, 1, rules) {}

  CounterLog setter;
  CounterLog other;

  void check(const Counts& final_value) const {
    check_counters(std::vector<CounterLog>{setter, other}, std::vector<Counts>{final_value});
  }
};

}  // namespace

TEST_CASE("eventual counters: two replicas lack each other's pushes, and come together") {
  const std::vector<CounterLog> logs{eventual_log(0, 2, 1, {{1, 0}, {1, 1}}),
                                     eventual_log(1, 2, 1, {{0, 1}, {1, 1}})};
  CHECK_NOTHROW(check_counters(logs, std::vector<Counts>{{1, 1}}));
  // A sequential table excludes this history.
  const std::vector<Counts> pulls{{1, 0}, {0, 1}};
  CounterChain chain;
  chain.add(pulls[0]);
  CHECK_THROWS_AS(chain.add(pulls[1]), HistoryViolation);
}

TEST_CASE("eventual counters: the main copy has one history") {
  const std::vector<CounterLog> logs{eventual_log(0, 2, 1, {{1, 0}}, Copy::main),
                                     eventual_log(1, 2, 1, {{0, 1}}, Copy::main)};
  CHECK_THROWS_AS(check_counters(logs, std::vector<Counts>{{1, 1}}), HistoryViolation);
}

TEST_CASE("eventual counters: own pushes are missing, or seen too early") {
  CHECK_THROWS_AS(eventual_log(0, 2, 2, {{1, 0}}), HistoryViolation);
  CHECK_THROWS_AS(eventual_log(0, 2, 2, {{3, 0}}), HistoryViolation);
}

TEST_CASE("eventual counters: a push is lost or applied twice") {
  const std::vector<CounterLog> logs{eventual_log(0, 2, 2, {}), eventual_log(1, 2, 1, {})};
  CHECK_NOTHROW(check_counters(logs, std::vector<Counts>{{2, 1}}));
  CHECK_THROWS_AS(check_counters(logs, std::vector<Counts>{{1, 1}}), HistoryViolation);
  CHECK_THROWS_AS(check_counters(logs, std::vector<Counts>{{2, 2}}), HistoryViolation);
}

TEST_CASE("eventual counters: a worker sees less than before, or more than was pushed") {
  const std::vector<CounterLog> falling{eventual_log(0, 2, 0, {{0, 1}, {0, 0}}), eventual_log(1, 2, 1, {})};
  CHECK_THROWS_AS(check_counters(falling, std::vector<Counts>{{0, 1}}), HistoryViolation);
  const std::vector<CounterLog> more{eventual_log(0, 2, 0, {{0, 2}}), eventual_log(1, 2, 1, {})};
  CHECK_THROWS_AS(check_counters(more, std::vector<Counts>{{0, 1}}), HistoryViolation);
}

TEST_CASE("eventual counters: live checks keep to what a replica may show") {
  LiveCounters live(2, 1, kEventual);
  live.push_issued(1, kReplicated);
  live.push_answered(1, kReplicated, 1);  // to a replica
  CHECK_NOTHROW(live.pull_answered(0, kReplicated, live.floor(0, kReplicated), {0, 0}));
  CHECK_NOTHROW(live.pull_answered(0, kReplicated, live.floor(0, kReplicated), {0, 1}));
  // Once this worker has seen the push, it sees it in all later pulls; no worker sees it before it is issued.
  CHECK_THROWS_AS(live.pull_answered(0, kReplicated, live.floor(0, kReplicated), {0, 0}), HistoryViolation);
  CHECK_THROWS_AS(live.pull_answered(1, kReplicated, live.floor(1, kReplicated), {0, 2}), HistoryViolation);
  CHECK_NOTHROW(live.pull_answered(1, kReplicated, live.floor(1, kReplicated), {0, 0}));
  CHECK_NOTHROW(
      live.pull_answered(1, kReplicated, live.floor(1, kReplicated, Copy::main), {0, 0}, Copy::main));
}

TEST_CASE("eventual counters: live checks of the main copy") {
  LiveCounters live(3, 1, kEventual);
  for (const std::size_t worker : {0U, 1U}) live.push_issued(worker, kReplicated);
  live.push_answered(0, kReplicated, 1, Copy::main);
  const LiveCounters::Floor floor = live.floor(2, kReplicated, Copy::main);
  CHECK_NOTHROW(live.pull_answered(2, kReplicated, live.floor(2, kReplicated), {0, 1, 0}));
  CHECK_THROWS_AS(live.pull_answered(2, kReplicated, floor, {0, 1, 0}, Copy::main), HistoryViolation);
  CHECK_NOTHROW(live.pull_answered(2, kReplicated, floor, {1, 0, 0}, Copy::main));
}

TEST_CASE(
    "eventual counters: after a sync the main copy has the pushes, and the domain's replicas are not older") {
  LiveCounters live(3, 1, kEventual);
  const std::vector<std::size_t> domain{0, 1};
  const auto pulled = [](LiveCounters then, std::size_t worker, Counts counts, Copy copy = Copy::any) {
    then.pull_answered(worker, kReplicated, then.floor(worker, kReplicated, copy), counts, copy);
  };
  for (const std::size_t worker : {0U, 2U}) live.push_issued(worker, kReplicated);
  live.push_answered(2, kReplicated, 1, Copy::main);
  const LiveCounters::Sync sync = live.sync_called(0);
  live.push_issued(2, kReplicated);
  live.push_answered(2, kReplicated, 2, Copy::main);  // too late
  CHECK_NOTHROW(pulled(live, 2, {0, 0, 2}, Copy::main));
  CHECK_NOTHROW(pulled(live, 1, {0, 0, 0}));
  live.synced(sync, domain);
  CHECK_THROWS_AS(pulled(live, 2, {0, 0, 2}, Copy::main), HistoryViolation);
  CHECK_NOTHROW(pulled(live, 2, {1, 0, 2}, Copy::main));
  CHECK_THROWS_AS(pulled(live, 1, {0, 0, 0}), HistoryViolation);
  CHECK_NOTHROW(pulled(live, 1, {0, 0, 1}));
  CHECK_NOTHROW(pulled(live, 2, {0, 0, 0}));  // another domain's replica
}

TEST_CASE("resets: a history in order is accepted") {
  for (const CounterRules& rules : {kResets, kEventualResets}) {
    ResetLogs logs(rules);
    logs.setter.pushed(kReplicated);
    logs.other.pushed(kReplicated);
    pull(logs.other, {1, 1, 0});
    CHECK(logs.setter.resets(kReplicated));
    CHECK_FALSE(logs.other.resets(kReplicated));
    CHECK(logs.setter.reset(kReplicated) == 1);
    logs.setter.pushed(kReplicated);
    pull(logs.setter, {1, 0, 1});
    logs.other.pushed(kReplicated);
    pull(logs.other, {1, 1, 1});  // its first push was wiped
    logs.other.pushed(kReplicated);
    pull(logs.other, {1, 2, 1});
    CHECK_NOTHROW(logs.check({1, 2, 1}));
    // In the last epoch, a push is lost or applied twice, or the reset is lost.
    CHECK_THROWS_AS(logs.check({1, 1, 1}), HistoryViolation);
    CHECK_THROWS_AS(logs.check({1, 3, 1}), HistoryViolation);
    CHECK_THROWS_AS(logs.check({2, 2, 1}), HistoryViolation);
    CHECK_THROWS_AS(logs.check({0, 2, 1}), HistoryViolation);
    CHECK_THROWS_AS(logs.check({2, 3, 0}), HistoryViolation);
    const CounterLog copy = CounterLog::decode(logs.other.encode());
    CHECK(copy.encode() == logs.other.encode());
    CHECK(copy.wiped(kReplicated) == logs.other.wiped(kReplicated));
  }
}

TEST_CASE("resets: the setter sees its last reset and its pushes behind it, no more and no less") {
  CounterLog log(0, 2, 1, kEventualResets);
  log.pushed(kReplicated);
  log.reset(kReplicated);
  log.pushed(kReplicated);
  CHECK_THROWS_AS(pull(log, {1, 0, 0}), HistoryViolation);
  CHECK_THROWS_AS(pull(log, {2, 0, 1}), HistoryViolation);
  CHECK_THROWS_AS(pull(log, {0, 0, 1}), HistoryViolation);
  CHECK_NOTHROW(pull(log, {1, 0, 1}));
}

TEST_CASE("resets: other workers agree with themselves about what a reset has wiped") {
  CounterLog log(1, 2, 1, kEventualResets);
  for (int i = 0; i < 3; ++i) log.pushed(kReplicated);
  pull(log, {0, 2, 1});  // one was wiped
  const CounterLog seen = log;
  log.pushed(kReplicated);
  // A push of this epoch is lost or seen twice, or a wiped push comes back.
  CHECK_THROWS_AS(pull(log, {0, 2, 1}), HistoryViolation);
  log = seen;
  CHECK_THROWS_AS(pull(log, {0, 3, 1}), HistoryViolation);
  log = seen;
  CHECK_THROWS_AS(pull(log, {0, 3, 2}), HistoryViolation);
  log = seen;
  CHECK_THROWS_AS(pull(log, {0, 2, 0}), HistoryViolation);
  log = seen;
  CHECK_THROWS_AS(pull(log, {0, 4, 2}), HistoryViolation);
  log = seen;
  CHECK_NOTHROW(pull(log, {0, 0, 2}));
}

TEST_CASE("resets: a worker sees an earlier reset again") {
  for (const CounterRules& rules : {kResets, kEventualResets}) {
    ResetLogs logs(rules);
    for (int i = 0; i < 2; ++i) logs.setter.reset(kReplicated);
    pull(logs.other, {0, 0, 1});
    pull(logs.other, {0, 0, 2});
    CHECK_NOTHROW(logs.check({0, 0, 2}));
    pull(logs.other, {0, 0, 1});
    CHECK_THROWS_AS(logs.check({0, 0, 2}), HistoryViolation);
  }
}

TEST_CASE("resets: the last one is lost, or counts of the one before it stay") {
  ResetLogs logs(kEventualResets);
  logs.setter.pushed(kReplicated);
  logs.setter.reset(kReplicated);
  CHECK_NOTHROW(logs.check({0, 0, 1}));
  CHECK_THROWS_AS(logs.check({1, 0, 0}), HistoryViolation);
  CHECK_THROWS_AS(logs.check({1, 0, 1}), HistoryViolation);
}

TEST_CASE("resets: a push that a reset wiped is seen by a neighbour") {
  ResetLogs logs(kEventualResets);
  logs.setter.reset(kReplicated);
  for (int i = 0; i < 2; ++i) logs.other.pushed(kReplicated);
  pull(logs.other, {0, 1, 1});
  CHECK_NOTHROW(logs.check({0, 1, 1}));
  pull(logs.setter, {0, 2, 1});
  CHECK_THROWS_AS(logs.check({0, 1, 1}), HistoryViolation);
}

TEST_CASE("resets: live checks know how many pushes a reset can have wiped") {
  const auto pulled = [](LiveCounters live, Counts counts, Copy copy = Copy::any) {
    live.pull_answered(1, kReplicated, live.floor(1, kReplicated, copy), counts, copy);
  };
  LiveCounters live(2, 1, kEventualResets);
  for (int i = 0; i < 3; ++i) live.push_issued(1, kReplicated);
  live.push_answered(1, kReplicated, 1, Copy::main);
  live.reset_issued(kReplicated, 1);
  CHECK_NOTHROW(pulled(live, {0, 2, 1}));
  CHECK_NOTHROW(pulled(live, {0, 3, 0}));
  CHECK_THROWS_AS(pulled(live, {0, 3, 1}), HistoryViolation);
  CHECK_THROWS_AS(pulled(live, {0, 0, 2}), HistoryViolation);  // not issued
  live.reset_answered(kReplicated, 1);
  CHECK_NOTHROW(pulled(live, {0, 3, 0}));  // an old replica
  CHECK_THROWS_AS(pulled(live, {0, 3, 0}, Copy::main), HistoryViolation);
  for (int i = 0; i < 2; ++i) live.push_issued(1, kReplicated);
  live.push_answered(1, kReplicated, 5, Copy::main);
  CHECK_NOTHROW(pulled(live, {0, 2, 1}, Copy::main));
  CHECK_NOTHROW(pulled(live, {0, 4, 1}, Copy::main));
  CHECK_THROWS_AS(pulled(live, {0, 1, 1}, Copy::main), HistoryViolation);
  CHECK_NOTHROW(live.check_final(kReplicated, {0, 4, 1}));
  CHECK_NOTHROW(live.check_final(kReplicated, {0, 2, 1}));
  CHECK_THROWS_AS(live.check_final(kReplicated, {0, 1, 1}), HistoryViolation);
  CHECK_THROWS_AS(live.check_final(kReplicated, {0, 5, 1}), HistoryViolation);
}
