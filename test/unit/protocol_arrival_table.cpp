#include "lapse/protocol/arrival_table.hpp"

#include "lapse/protocol/lease_request.hpp"

#include <cstring>
#include <set>
#include <vector>

#include "test/support/catch.hpp"

using lapse::ArrivalTable;
using lapse::Domain;
using lapse::FrameKind;
using lapse::Key;
using lapse::OperationPart;
using lapse::OperationState;
using lapse::Rank;
using lapse::Waiter;

namespace {

const ArrivalTable::Clock::time_point kNow{std::chrono::seconds(5)};

OperationPart part(FrameKind kind, std::uint64_t key, const std::byte* value = nullptr) {
  OperationPart part;
  part.kind = kind;
  part.origin = Rank(2);
  part.operation = 17;
  part.key = Key(key);
  part.item = 4;
  part.value = value;
  return part;
}

}  // namespace

TEST_CASE("A record keeps its first waiter and its time, and needs nothing else") {
  ArrivalTable table;
  OperationState waiter;
  const std::uint32_t number = table.open(Waiter(waiter), kNow);
  CHECK(table.in_use() == 1);
  CHECK(table.first_waiter(number) == Waiter(waiter));
  CHECK(table.asked(number) == kNow);
  CHECK(table.extra(number) == nullptr);
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
    table.queue_operation(number, part(FrameKind::pull, 1), 8, kNow);
    table.queue_instruct(number, Domain(1), 1, kNow);
    table.close(number);
    open.erase(number);
  }
  CHECK(table.in_use() == 900);
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t number = table.open({}, kNow);
    CHECK(number < 1000);
    CHECK(open.insert(number).second);
    CHECK(table.first_waiter(number) == Waiter());
    CHECK(table.extra(number) == nullptr);
    // The part that was used before is empty, too.
    table.add_waiter(number, Waiter(waiter));
    CHECK(table.first_waiter(number) == Waiter(waiter));
    table.add_waiter(number, Waiter(waiter));
    REQUIRE(table.extra(number) != nullptr);
    CHECK(table.extra(number)->queue.empty());
    CHECK(table.extra(number)->waiters.size() == 1);
    CHECK_FALSE(table.extra(number)->instruct_queued);
  }
}

TEST_CASE("Waiters come in order; those after an INSTRUCT wish for the next arrival") {
  ArrivalTable table;
  std::vector<OperationState> waiters(5);
  const std::uint32_t number = table.open({}, kNow);
  table.add_waiter(number, Waiter(waiters[0]));
  table.add_waiter(number, Waiter(waiters[1]));
  table.add_waiter(number, Waiter(waiters[2]));
  table.queue_instruct(number, Domain(3), 9, kNow);
  table.add_waiter(number, Waiter(waiters[3]));
  table.add_waiter(number, Waiter(waiters[4]));
  CHECK(table.first_waiter(number) == Waiter(waiters[0]));
  const ArrivalTable::Extra& extra = *table.extra(number);
  CHECK(extra.waiters == std::vector<Waiter>{Waiter(waiters[1]), Waiter(waiters[2])});
  CHECK(extra.wishes == std::vector<Waiter>{Waiter(waiters[3]), Waiter(waiters[4])});
  CHECK(table.take_waiters(number) ==
        std::vector<Waiter>{Waiter(waiters[0]), Waiter(waiters[1]), Waiter(waiters[2])});
  CHECK(table.first_waiter(number) == Waiter());
  CHECK(table.take_waiters(number).empty());
  CHECK(extra.wishes.size() == 2);
}

TEST_CASE("A wish does not become the first waiter of the arrival that is about to leave") {
  ArrivalTable table;
  OperationState wish;
  const std::uint32_t number = table.open({}, kNow);
  table.queue_instruct(number, Domain(3), 1, kNow);
  table.add_waiter(number, Waiter(wish));
  CHECK(table.first_waiter(number) == Waiter());
  CHECK(table.extra(number)->wishes.size() == 1);
}

TEST_CASE("Operations and an INSTRUCT queue in the order in which they came, with copies of the updates") {
  ArrivalTable table;
  const std::uint32_t number = table.open({}, kNow);
  std::vector<std::byte> update(12, std::byte{1});
  table.queue_operation(number, part(FrameKind::push, 1, update.data()), update.size(), kNow);
  std::fill(update.begin(), update.end(), std::byte{2});
  table.queue_operation(number, part(FrameKind::pull, 2), update.size(), kNow);
  table.queue_operation(number, part(FrameKind::set, 3, update.data()), update.size(), kNow);
  table.queue_instruct(number, Domain(7), 41, kNow + std::chrono::seconds(1));
  update.clear();

  const ArrivalTable::Extra& extra = *table.extra(number);
  REQUIRE(extra.queue.size() == 4);
  CHECK(extra.instruct_queued);
  CHECK(extra.part(0).kind == FrameKind::push);
  CHECK(extra.part(0).origin == Rank(2));
  CHECK(extra.part(0).operation == 17);
  CHECK(extra.part(0).item == 4);
  REQUIRE(extra.part(0).value != nullptr);
  CHECK(std::vector<std::byte>(extra.part(0).value, extra.part(0).value + 12) ==
        std::vector<std::byte>(12, std::byte{1}));
  CHECK(extra.part(1).kind == FrameKind::pull);
  CHECK(extra.part(1).key == Key(2));
  CHECK(extra.part(1).value == nullptr);
  CHECK(std::vector<std::byte>(extra.part(2).value, extra.part(2).value + 12) ==
        std::vector<std::byte>(12, std::byte{2}));
  CHECK(extra.queue[3].kind == ArrivalTable::Queued::Kind::instruct);
  CHECK(extra.queue[3].next == Domain(7));
  CHECK(extra.queue[3].relocations == 41);
  CHECK(extra.queue[3].since == kNow + std::chrono::seconds(1));
  CHECK(extra.queue[2].kind == ArrivalTable::Queued::Kind::operation);
}

TEST_CASE("A record that is being worked off stays where it is while others begin") {
  ArrivalTable table;
  const std::uint32_t number = table.open({}, kNow);
  table.queue_operation(number, part(FrameKind::pull, 1), 4, kNow);
  const ArrivalTable::Extra* extra = table.extra(number);
  for (int i = 0; i < 1000; ++i) {
    table.queue_operation(table.open({}, kNow), part(FrameKind::pull, 2), 4, kNow);
  }
  CHECK(table.extra(number) == extra);
  CHECK(extra->queue.size() == 1);
}

TEST_CASE(
    "What has been worked off is dropped from the front, what queued behind it stays with its updates") {
  ArrivalTable table;
  const std::uint32_t number = table.open({}, kNow);
  const std::vector<std::byte> first(4, std::byte{1});
  const std::vector<std::byte> second(4, std::byte{2});
  lapse::LeaseRequest request;
  table.queue_operation(number, part(FrameKind::push, 1, first.data()), 4, kNow);
  table.queue_lease(number, {&request, {}, 0}, kNow);
  table.queue_operation(number, part(FrameKind::push, 2, second.data()), 4, kNow);
  ArrivalTable::Extra& extra = *table.extra(number);
  CHECK(extra.queue[1].kind == ArrivalTable::Queued::Kind::lease);
  CHECK(extra.queue[1].lease.local == &request);
  extra.drop_front(2);
  REQUIRE(extra.queue.size() == 1);
  CHECK(extra.part(0).key == Key(2));
  CHECK(std::vector<std::byte>(extra.part(0).value, extra.part(0).value + 4) == second);
  extra.drop_front(1);
  CHECK(extra.queue.empty());
  CHECK(extra.values.empty());
}

TEST_CASE("Updates in a queue are aligned for any element type, whatever stands before them") {
  ArrivalTable table;
  const std::uint32_t number = table.open({}, kNow);
  const std::vector<std::byte> odd(3, std::byte{1});
  const std::vector<std::byte> even(8, std::byte{2});
  for (int i = 0; i < 5; ++i) {
    table.queue_operation(number, part(FrameKind::call, 1, odd.data()), odd.size(), kNow);
    table.queue_operation(number, part(FrameKind::push, 1, even.data()), even.size(), kNow);
  }
  const ArrivalTable::Extra& extra = *table.extra(number);
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(reinterpret_cast<std::uintptr_t>(extra.part(i).value) % 8 == 0);
  }
}

TEST_CASE("A queue that is never empty does not keep the updates of what has left it") {
  ArrivalTable table;
  const std::uint32_t number = table.open({}, kNow);
  std::vector<std::byte> update(64);
  ArrivalTable::Extra* extra = nullptr;
  for (int i = 0; i < 10'000; ++i) {
    update[0] = static_cast<std::byte>(i % 251);
    table.queue_operation(number, part(FrameKind::push, 1, update.data()), update.size(), kNow);
    extra = table.extra(number);
    if (extra->queue.size() > 10) extra->drop_front(1);
    REQUIRE(extra->values.size() <= 30 * update.size());
    for (std::size_t at = 0; at < extra->queue.size(); ++at) {
      const int which = i + 1 - static_cast<int>(extra->queue.size()) + static_cast<int>(at);
      REQUIRE(extra->part(at).value[0] == static_cast<std::byte>(which % 251));
    }
  }
}
