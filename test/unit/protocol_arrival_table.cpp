#include "lapse/protocol/table/arrival_table.hpp"
#include "lapse/protocol/worker/operation_state.hpp"

#include <set>
#include <vector>

#include "test/support/catch.hpp"

using lapse::ArrivalTable;
using lapse::Domain;
using lapse::Key;
using lapse::KeyQueue;
using lapse::OperationPart;
using lapse::OperationState;
using lapse::Slot;
using lapse::Waiter;

namespace {

const ArrivalTable::Clock::time_point kNow{std::chrono::seconds(5)};
const KeyQueue::Instruct kInstruct{.next = Domain(3), .relocations = 9};

}  // namespace

TEST_CASE("A record keeps its first waiter and its time, and needs nothing else") {
  ArrivalTable table;
  OperationState waiter;
  const std::uint32_t number = table.open(Waiter(waiter), kNow);
  CHECK(table.in_use() == 1);
  CHECK(table.first_waiter(number) == Waiter(waiter));
  CHECK(table.asked(number) == kNow);
  CHECK(table.is_plain(number));
  table.close(number);
  CHECK(table.in_use() == 0);
}

TEST_CASE("Numbers of open records are distinct; closed ones are used again, empty") {
  ArrivalTable table;
  OperationState waiter;
  std::set<std::uint32_t> open;
  for (int i = 0; i < 1000; ++i) open.insert(table.open(Waiter(waiter), kNow));
  CHECK(open.size() == 1000);
  for (std::uint32_t number = 100; number < 200; ++number) {
    table.queue(number).push(OperationPart(), 8, kNow);
    table.queue(number).push(kInstruct, kNow);
    table.keep_for_lease(number, Key(number));
    table.close(number);
    open.erase(number);
  }
  CHECK(table.in_use() == 900);
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t number = table.open({}, kNow);
    CHECK(number < 1000);
    CHECK(open.insert(number).second);
    CHECK(table.first_waiter(number) == Waiter());
    CHECK(table.is_plain(number));
    CHECK_FALSE(table.find_leased(Key(number)).has_value());
    // The reused part is empty, too.
    table.add_waiter(number, Waiter(waiter));
    CHECK(table.first_waiter(number) == Waiter(waiter));
    table.add_waiter(number, Waiter(waiter));
    REQUIRE_FALSE(table.is_plain(number));
    CHECK(table.queue(number).empty());
    CHECK_FALSE(table.holds_instruct(number));
    CHECK(table.take_waiters(number).size() == 2);
  }
}

TEST_CASE("Waiters come in order; those after an INSTRUCT are pending re-localizes for the next arrival") {
  ArrivalTable table;
  std::vector<OperationState> waiters(5);
  const std::uint32_t number = table.open({}, kNow);
  table.add_waiter(number, Waiter(waiters[0]));
  table.add_waiter(number, Waiter(waiters[1]));
  table.add_waiter(number, Waiter(waiters[2]));
  table.queue(number).push(kInstruct, kNow);
  CHECK(table.holds_instruct(number));
  table.add_waiter(number, Waiter(waiters[3]));
  table.add_waiter(number, Waiter(waiters[4]));
  CHECK(table.first_waiter(number) == Waiter(waiters[0]));
  CHECK(table.take_waiters(number) ==
        std::vector<Waiter>{Waiter(waiters[0]), Waiter(waiters[1]), Waiter(waiters[2])});
  CHECK(table.first_waiter(number) == Waiter());
  CHECK(table.take_waiters(number).empty());
  CHECK(table.take_relocalizes(number) == std::vector<Waiter>{Waiter(waiters[3]), Waiter(waiters[4])});
  CHECK(table.take_relocalizes(number).empty());
}

TEST_CASE("A pending re-localize does not become the first waiter of the arrival that is about to leave") {
  ArrivalTable table;
  OperationState relocalize;
  const std::uint32_t number = table.open({}, kNow);
  table.queue(number).push(kInstruct, kNow);
  table.add_waiter(number, Waiter(relocalize));
  CHECK(table.first_waiter(number) == Waiter());
  CHECK(table.take_relocalizes(number).size() == 1);
}

TEST_CASE("A queue that is being drained stays where it is while others begin") {
  ArrivalTable table;
  const std::uint32_t number = table.open({}, kNow);
  table.queue(number).push(OperationPart(), 4, kNow);
  const KeyQueue* queue = &table.queue(number);
  for (int i = 0; i < 1000; ++i) table.queue(table.open({}, kNow)).push(OperationPart(), 4, kNow);
  CHECK(&table.queue(number) == queue);
  CHECK(queue->size() == 1);
}

TEST_CASE("The record of a leased key is found by the key until it is closed") {
  ArrivalTable table;
  const std::uint32_t number = table.open({}, kNow);
  CHECK_FALSE(table.find_leased(Key(7)).has_value());
  table.keep_for_lease(number, Key(7));
  CHECK(table.find_leased(Key(7)) == number);
  CHECK_FALSE(table.find_leased(Key(8)).has_value());
  table.close(number);
  CHECK_FALSE(table.find_leased(Key(7)).has_value());
}

TEST_CASE("A record keeps the slot for the value beside all that waits") {
  ArrivalTable table;
  const Slot highest{.number = 0xffff'ffffU, .is_private = true};
  const std::uint32_t first = table.open({}, kNow, {.number = 7, .is_private = false});
  const std::uint32_t second = table.open({}, kNow, highest);
  for (int round = 0; round < 2; ++round) {
    CHECK(table.prepared(first) == Slot{.number = 7, .is_private = false});
    CHECK(table.prepared(second) == highest);
    table.queue(first).push(OperationPart(), 8, kNow);
    table.queue(second).push(OperationPart(), 8, kNow);
  }
  CHECK_FALSE(table.is_plain(second));
  table.close(second);
  // Free records are linked by their numbers.
  CHECK(table.open({}, kNow) == second);
  CHECK(table.prepared(second) == Slot());
  CHECK(table.is_plain(second));
}
