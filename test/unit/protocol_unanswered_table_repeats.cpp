// The table of unanswered keys: keys that an operation names several times, items that are entered when they
// are asked for, and operations that look up owners.
#include "lapse/protocol/worker/unanswered_table.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_operations.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::TableId;
using lapse::UnansweredKey;
using lapse::test::WorkerOperations;

TEST_CASE("Where the items of a key go the same way, the last of them stands for all") {
  WorkerOperations worker;
  // Another operation may be unanswered. If none is, the items are entered only when they are asked for.
  const bool alone = GENERATE(true, false);
  const bool asked = GENERATE(true, false);
  if (!alone) worker.take(worker.call({Key(100)}));
  OperationState& operation = worker.call({Key(5), Key(6), Key(5), Key(5), Key(7)}, true);
  for (const OperationState::Item& item : operation.items) CHECK(item.entry == nullptr);
  CHECK(operation.joins.empty());
  worker.take(operation);
  if (asked) CHECK(worker.contains(Key(5)));
  for (const std::size_t item : {0, 1, 2}) CHECK(worker.answer(operation, item));
  CHECK(worker.contains(Key(5)));
  CHECK_FALSE(worker.contains(Key(6)));
  SECTION("answered last") {
    CHECK(worker.answer(operation, 3));
  }
  SECTION("another operation meets with it") {
    OperationState& second = worker.call({Key(5), Key(8), Key(5), Key(8)}, true);
    UnansweredKey* const entry = second.items[0].entry;
    REQUIRE(entry != nullptr);
    CHECK(second.items[2].entry == entry);
    CHECK(second.items[3].entry == nullptr);
    REQUIRE(second.joins.size() == 1);
    CHECK(second.joins[0].item == 3);
    worker.take(second);
    CHECK(entry->count() == 3);
    CHECK(worker.answer(second, 0));
    CHECK(worker.answer(operation, 3));
    CHECK(worker.contains(Key(5)));
    CHECK(worker.answer(second, 2));
  }
  CHECK_FALSE(worker.contains(Key(5)));
  CHECK(worker.contains(Key(7)));
  CHECK(worker.contains(Key(100)) == !alone);
}

TEST_CASE("The last item of a key may be answered before the others, which only wait for their answers") {
  WorkerOperations worker;
  OperationState& operation = worker.call({Key(5), Key(5)}, true);
  worker.take(operation);
  CHECK(worker.answer(operation, 1));
  // It does not matter whether the key counts as unanswered: only an answer is outstanding.
  const bool counts = worker.contains(Key(5));
  CHECK(worker.total() == 1);
  OperationState& second = worker.call({Key(5)}, true);
  CHECK((second.items[0].entry != nullptr) == counts);
  CHECK(worker.contains(Key(5)));
  worker.take(second);
  CHECK(worker.answer(second, 0));
  CHECK(worker.answer(operation, 0));
  CHECK(worker.total() == 0);
}

TEST_CASE("Every key of an operation that looks up owners has an entry, in which it may wait") {
  WorkerOperations worker;
  const bool same_way = GENERATE(true, false);
  OperationState& late = worker.call({Key(1), Key(2)}, true);
  worker.take(late);
  for (int round = 0; round < 3; ++round) {
    OperationState& operation = worker.begin(TableId(0), 3, same_way, true);
    UnansweredKey* const met = worker.add(operation, Key(1));
    UnansweredKey* const alone = worker.add(operation, Key(3));
    REQUIRE(met != nullptr);
    REQUIRE(alone != nullptr);
    CHECK(worker.add(operation, Key(3)) == alone);
    CHECK(met->count() == 2);
    CHECK(alone->count() == 2);
    worker.finish(operation);
    CHECK(operation.joins.size() == (round == 0 ? 1 : 0));
    worker.take(operation);
    CHECK(alone->pin.unanswered == 2);
    for (const std::size_t item : {0, 1, 2}) {
      CHECK(worker.contains(operation.items[item].key));
      CHECK(worker.answer(operation, item));
    }
    CHECK(worker.contains(Key(1)));
    CHECK_FALSE(worker.contains(Key(3)));
    worker.release(operation);
    // The next operation has no entry for it.
    OperationState& plain = worker.call({Key(3)}, same_way);
    CHECK(plain.items[0].entry == nullptr);
    worker.take(plain);
    CHECK(worker.answer(plain, 0));
    worker.release(plain);
  }
}

TEST_CASE("A question between two keys of an operation finds those that were added") {
  WorkerOperations worker;
  OperationState& operation = worker.begin(TableId(0), 2, true);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    if (key % 3 == 0) CHECK_FALSE(worker.contains(Key(key)));
    worker.add(operation, Key(key));
    if (key % 7 == 0) CHECK(worker.contains(Key(key)));
  }
  worker.finish(operation);
  for (std::uint64_t key = 0; key < 1001; ++key) REQUIRE(worker.contains(Key(key)) == (key < 1000));
}

TEST_CASE("The keys of an operation that follow may go another way than those before them") {
  const bool asked = GENERATE(false, true);
  const bool grows = GENERATE(false, true);
  WorkerOperations worker;
  OperationState& operation = worker.begin(TableId(0), 4, true);
  for (const std::uint64_t key : {1, 2, 1, 3}) CHECK(worker.add(operation, Key(key)) == nullptr);
  if (asked) CHECK(worker.contains(Key(1)));
  operation.items[1].set_state(OperationState::ItemState::answered);
  worker.unanswered().part_ways();
  CHECK(worker.contains(Key(1)));
  CHECK_FALSE(worker.contains(Key(2)));
  // Enough keys to need a larger table.
  for (std::uint64_t key = 100; key < (grows ? 1100 : 100); ++key)
    CHECK(worker.add(operation, Key(key)) == nullptr);
  UnansweredKey* const entry = worker.add(operation, Key(1));
  REQUIRE(entry != nullptr);
  CHECK(entry->count() == 2);
  REQUIRE(operation.joins.size() == 1);
  CHECK(operation.joins[0].operation == &operation);
  CHECK(operation.joins[0].item == 2);
  // Answered items leave no route to keep; keys that are added later take one route.
  CHECK(worker.add(operation, Key(2)) == nullptr);
  CHECK(worker.add(operation, Key(4)) == nullptr);
  CHECK(worker.add(operation, Key(4)) == nullptr);
  CHECK(worker.contains(Key(4)));
}
