// Tests the checks of histories on broken histories, made by hand.
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/history_assignments.hpp"
#include "test/support/history_counters.hpp"
#include "test/support/history_live_counters.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr Key kKey{0};

// A log of one key: pushes, then pulls.
CounterLog counter_log(std::size_t worker, std::size_t workers, int pushes,
                       const std::vector<Counts>& pulls) {
  CounterLog log(worker, workers, 1);
  for (int i = 0; i < pushes; ++i) log.pushed(kKey);
  for (const Counts& counts : pulls) log.pulled(kKey, log.next_position(), {pushes}, counts);
  return log;
}

void read(AssignmentLog& log, Assignment seen) {
  log.end_read(kKey, log.begin_read(kKey), seen);
}

}  // namespace

TEST_CASE("counters: a history in order is accepted") {
  const std::vector<CounterLog> logs{counter_log(0, 2, 1, {{1, 0}, {1, 1}, {1, 1}}),
                                     counter_log(1, 2, 1, {{1, 1}})};
  CHECK_NOTHROW(check_counters(logs, std::vector<Counts>{{1, 1}}));
}

TEST_CASE("counters: own pushes are missing, or seen too early") {
  CHECK_THROWS_AS(counter_log(0, 2, 2, {{1, 0}}), HistoryViolation);
  CHECK_THROWS_AS(counter_log(0, 2, 2, {{3, 0}}), HistoryViolation);
}

TEST_CASE("counters: a push is lost or applied twice") {
  const std::vector<CounterLog> logs{counter_log(0, 2, 2, {}), counter_log(1, 2, 1, {})};
  CHECK_NOTHROW(check_counters(logs, std::vector<Counts>{{2, 1}}));
  CHECK_THROWS_AS(check_counters(logs, std::vector<Counts>{{1, 1}}), HistoryViolation);
  CHECK_THROWS_AS(check_counters(logs, std::vector<Counts>{{2, 2}}), HistoryViolation);
}

TEST_CASE("counters: two pulls that no order explains") {
  const std::vector<CounterLog> logs{counter_log(0, 4, 0, {{0, 0, 1, 0}}),
                                     counter_log(1, 4, 0, {{0, 0, 0, 1}}), counter_log(2, 4, 1, {}),
                                     counter_log(3, 4, 1, {})};
  CHECK_THROWS_AS(check_counters(logs, std::vector<Counts>{{0, 0, 1, 1}}), HistoryViolation);
  // Equally many pushes, but different ones.
  CounterChain chain;
  chain.add({2, 0});
  chain.add({2, 0});
  CHECK_THROWS_AS(chain.add({1, 1}), HistoryViolation);
  // Both neighbours are compared.
  CHECK_THROWS_AS(chain.add({0, 1}), HistoryViolation);
  CHECK_THROWS_AS(chain.add({1, 2}), HistoryViolation);
  CHECK_NOTHROW(chain.add({2, 1}));
}

TEST_CASE("counters: a worker sees less than before") {
  CounterLog log(0, 2, 1);
  const std::uint64_t first = log.next_position();
  const std::uint64_t second = log.next_position();
  const std::vector<CounterLog> others{counter_log(1, 2, 1, {})};
  const auto all = [&](const CounterLog& one) { return std::vector<CounterLog>{one, others[0]}; };
  CounterLog rising = log;
  rising.pulled(kKey, second, {}, {0, 1});  // the later pull is answered first
  rising.pulled(kKey, first, {}, {0, 0});
  CHECK_NOTHROW(check_counters(all(rising), std::vector<Counts>{{0, 1}}));
  log.pulled(kKey, first, {}, {0, 1});
  log.pulled(kKey, second, {}, {0, 0});
  CHECK_THROWS_AS(check_counters(all(log), std::vector<Counts>{{0, 1}}), HistoryViolation);
}

TEST_CASE("counters: more is seen than there is in the end") {
  const std::vector<CounterLog> logs{counter_log(0, 2, 0, {{0, 2}}), counter_log(1, 2, 1, {})};
  CHECK_THROWS_AS(check_counters(logs, std::vector<Counts>{{0, 1}}), HistoryViolation);
}

TEST_CASE("counters: half of a push") {
  const CounterLayout layout{2, 3};
  std::vector<float> value = layout.unit<float>(1);
  CHECK(layout.counts(std::span<const float>(value)) == Counts{0, 1});
  value[4] = 2;
  CHECK_THROWS_AS(layout.counts(std::span<const float>(value)), HistoryViolation);
}

TEST_CASE("counters: live checks use what was before") {
  LiveCounters live(2, 1);
  live.push_issued(1, kKey);
  const LiveCounters::Floor before = live.floor(0, kKey);
  // The push is in flight: it may be seen or not.
  CHECK_NOTHROW(live.pull_answered(0, kKey, before, {0, 0}));
  live.push_answered(1, kKey, 1);
  const LiveCounters::Floor after = live.floor(0, kKey);
  CHECK_THROWS_AS(live.pull_answered(0, kKey, after, {0, 0}), HistoryViolation);
  CHECK_NOTHROW(live.pull_answered(0, kKey, after, {0, 1}));
  CHECK_THROWS_AS(live.pull_answered(0, kKey, after, {0, 2}), HistoryViolation);
}

TEST_CASE("counters: logs survive being sent") {
  const CounterLog log = counter_log(1, 2, 3, {{0, 3}, {2, 3}});
  const CounterLog copy = CounterLog::decode(log.encode());
  CHECK(copy.encode() == log.encode());
  CHECK(copy.worker() == 1);
  CHECK(copy.pushes(kKey) == 3);
  CHECK(copy.pulls().size() == 2);
}

TEST_CASE("assignments: a history in order is accepted") {
  std::vector<AssignmentLog> logs{AssignmentLog(0, 1), AssignmentLog(1, 1)};
  read(logs[0], {});
  const Assignment first = logs[0].write(kKey);
  read(logs[1], first);
  const Assignment second = logs[1].write(kKey);
  read(logs[0], second);
  const Assignment third = logs[0].write(kKey);
  CHECK_NOTHROW(check_assignments(logs, std::vector<Assignment>{third}));
  CHECK_THROWS_AS(check_assignments(logs, std::vector<Assignment>{second}), HistoryViolation);
  CHECK_THROWS_AS(check_assignments(logs, std::vector<Assignment>{Assignment{}}), HistoryViolation);
}

TEST_CASE("assignments: a worker does not see its last write") {
  AssignmentLog log(0, 1);
  const Assignment first = log.write(kKey);
  log.write(kKey);
  CHECK_THROWS_AS(read(log, first), HistoryViolation);
  CHECK_THROWS_AS(read(log, Assignment{}), HistoryViolation);
}

TEST_CASE("assignments: an overwritten value comes back") {
  std::vector<AssignmentLog> logs{AssignmentLog(0, 1), AssignmentLog(1, 1)};
  const Assignment first = logs[0].write(kKey);
  const Assignment second = logs[0].write(kKey);
  read(logs[1], second);
  CHECK_NOTHROW(check_assignments(logs, std::vector<Assignment>{second}));
  read(logs[1], first);
  CHECK_THROWS_AS(check_assignments(logs, std::vector<Assignment>{second}), HistoryViolation);
}

TEST_CASE("assignments: two readers see two writes in different orders") {
  std::vector<AssignmentLog> logs{AssignmentLog(0, 1), AssignmentLog(1, 1), AssignmentLog(2, 1),
                                  AssignmentLog(3, 1)};
  const Assignment a = logs[0].write(kKey);
  const Assignment b = logs[1].write(kKey);
  read(logs[2], a);
  read(logs[2], b);
  CHECK_NOTHROW(check_assignments(logs, std::vector<Assignment>{b}));
  read(logs[3], b);
  read(logs[3], a);
  CHECK_THROWS_AS(check_assignments(logs, std::vector<Assignment>{b}), HistoryViolation);
}

TEST_CASE("assignments: values that no worker wrote") {
  std::vector<AssignmentLog> logs{AssignmentLog(0, 1)};
  CHECK_THROWS_AS(check_assignments(logs, std::vector<Assignment>{Assignment{1, 1}}), HistoryViolation);
  read(logs[0], {7, 1});
  CHECK_THROWS_AS(check_assignments(logs, std::vector<Assignment>{Assignment{}}), HistoryViolation);
  CHECK_THROWS_AS(Assignment::from(std::vector<std::int64_t>{1, 2, 4}), HistoryViolation);
  CHECK_THROWS_AS(Assignment::from(std::vector<std::int64_t>{-1, 2, 1}), HistoryViolation);
}

TEST_CASE("assignments: reads that were never answered count for nothing") {
  std::vector<AssignmentLog> logs{AssignmentLog(0, 1)};
  logs[0].begin_read(kKey);
  const Assignment value = logs[0].write(kKey);
  logs[0].begin_read(kKey);
  CHECK_NOTHROW(check_assignments(logs, std::vector<Assignment>{value}));
  CHECK(AssignmentLog::decode(logs[0].encode()).encode() == logs[0].encode());
}
