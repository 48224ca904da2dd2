#include "lapse/protocol/worker/unanswered_table.hpp"

#include <cstdint>
#include <vector>

#include "lapse/core/limits.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_operations.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::TableId;
using lapse::UnansweredCount;
using lapse::test::WorkerOperations;

TEST_CASE("A key is contained from its first operation until the answer to its last") {
  WorkerOperations worker;
  CHECK(worker.total() == 0);
  CHECK_FALSE(worker.contains(Key(7)));
  OperationState& first = worker.call({Key(7), Key(8)});
  CHECK(worker.total() == 2);
  CHECK(worker.contains(Key(7)));
  CHECK_FALSE(worker.contains(Key(7), TableId(1)));
  CHECK_FALSE(worker.contains(Key(9)));
  worker.take(first);
  OperationState& second = worker.call({Key(7)});
  worker.take(second);
  CHECK(worker.total() == 3);
  const bool in_order = GENERATE(true, false);
  worker.answer(in_order ? first : second, 0);
  CHECK(worker.contains(Key(7)));
  worker.answer(in_order ? second : first, 0);
  CHECK_FALSE(worker.contains(Key(7)));
  CHECK(worker.contains(Key(8)));
  worker.answer(first, 1);
  CHECK(worker.total() == 0);
  CHECK_FALSE(worker.contains(Key(8)));
}

TEST_CASE("A key that an operation names several times is contained until all of them are answered") {
  WorkerOperations worker;
  // Another operation may be unanswered.
  const bool alone = GENERATE(true, false);
  const bool asked = GENERATE(true, false);
  const bool last_is_first = GENERATE(true, false);
  if (!alone) worker.take(worker.call({Key(100)}));
  OperationState& operation = worker.call({Key(5), Key(6), Key(5), Key(5), Key(7)});
  worker.take(operation);
  if (asked) CHECK(worker.contains(Key(5)));
  worker.answer(operation, last_is_first ? 3 : 0);
  for (const std::size_t item : {1, 2}) worker.answer(operation, item);
  CHECK(worker.contains(Key(5)));
  CHECK_FALSE(worker.contains(Key(6)));
  worker.answer(operation, last_is_first ? 0 : 3);
  CHECK_FALSE(worker.contains(Key(5)));
  CHECK(worker.contains(Key(7)));
  CHECK(worker.contains(Key(100)) == !alone);
}

TEST_CASE("A question between two keys of an operation finds those that were added") {
  WorkerOperations worker;
  OperationState& operation = worker.begin(TableId(0));
  for (std::uint64_t key = 0; key < 1000; ++key) {
    if (key % 3 == 0) CHECK_FALSE(worker.contains(Key(key)));
    worker.add(operation, Key(key));
    if (key % 7 == 0) CHECK(worker.contains(Key(key)));
  }
  worker.finish(operation);
  for (std::uint64_t key = 0; key < 1001; ++key) REQUIRE(worker.contains(Key(key)) == (key < 1000));
}

TEST_CASE("An operation knows the oldest one that was unanswered when it began") {
  WorkerOperations worker;
  OperationState& first = worker.call({Key(1)});
  const std::uint32_t number = first.place.number;
  CHECK(first.place.oldest == number);
  worker.take(first);
  OperationState& second = worker.call({Key(2)});
  CHECK(second.place.number == number + 1);
  CHECK(second.place.oldest == number);
  worker.take(second);
  worker.answer(first, 0);
  CHECK(worker.call({Key(3)}).place.oldest == number + 1);
  // Its object may be used again.
  worker.release(first);
  OperationState& fourth = worker.call({Key(4)});
  CHECK(&fourth == &first);
  CHECK(fourth.place.oldest == number + 1);
  worker.answer(second, 0);
  CHECK(worker.call({Key(5)}).place.oldest == number + 2);
  // One that has no items, and is given back, counts as answered.
  worker.release(worker.begin(TableId(0)));
  CHECK(worker.call({Key(5)}).place.oldest == number + 2);
}

TEST_CASE("What a used object named before does not count") {
  WorkerOperations worker;
  OperationState& stays = worker.call({Key(100)});
  worker.take(stays);
  for (std::uint64_t key = 0; key < 50; ++key) {
    OperationState& operation = worker.call({Key(key), Key(key + 1)});
    if (key > 0) CHECK_FALSE(worker.contains(Key(key - 1)));
    CHECK(worker.contains(Key(key + 1)));
    worker.take(operation);
    worker.answer(operation, 1);
    worker.answer(operation, 0);
    CHECK_FALSE(worker.contains(Key(key + 1)));
    worker.release(operation);
  }
  CHECK(worker.total() == 1);
  CHECK(worker.contains(Key(100)));
}

TEST_CASE("The total may be lowered later, for many keys at once") {
  WorkerOperations worker;
  OperationState& first = worker.call({Key(1), Key(2)});
  worker.take(first);
  lapse::progress_role.assert_held();
  for (OperationState::Item& item : first.items) item.set_state(OperationState::ItemState::answered);
  CHECK(worker.total() == 2);
  CHECK_FALSE(worker.contains(Key(1)));
  worker.unanswered().finish_total(2);
  CHECK(worker.total() == 0);
}

TEST_CASE("A closed count is not clear, and still right, also when it wraps") {
  UnansweredCount count;
  CHECK(count.is_clear());
  for (int i = 0; i < 3; ++i) count.add();
  count.finish(3);
  CHECK(count.is_clear());
  count.add();
  CHECK_FALSE(count.is_clear());
  count.close();
  CHECK(count.total() == 1);
  CHECK_FALSE(count.is_clear());
  count.finish(1);
  CHECK(count.total() == 0);
  CHECK_FALSE(count.is_clear());
  count.add();
  CHECK(count.total() == 1);
}

TEST_CASE("There is room for as many unanswered keys as can be counted, and for no more") {
  WorkerOperations worker;
  lapse::UnansweredTable& unanswered = worker.unanswered();
  CHECK(unanswered.has_room(lapse::limits::kKeysOfCall));
  OperationState& operation = worker.begin(TableId(0));
  // Items that are never asked for.
  unanswered.add(lapse::limits::kUnansweredKeys - 3);
  CHECK(worker.total() == lapse::limits::kUnansweredKeys - 3);
  CHECK(unanswered.has_room(3));
  CHECK_FALSE(unanswered.has_room(4));
  CHECK_FALSE(unanswered.has_room(lapse::limits::kKeysOfCall));
  unanswered.add(3);
  CHECK(worker.total() == lapse::limits::kUnansweredKeys);
  CHECK(unanswered.has_room(0));
  CHECK_FALSE(unanswered.has_room(1));
  lapse::progress_role.assert_held();
  unanswered.finish_total(lapse::limits::kUnansweredKeys);
  CHECK(unanswered.has_room(lapse::limits::kKeysOfCall));
  worker.release(operation);
}

TEST_CASE("The same key of different tables, and keys that differ in their high bits, are different") {
  WorkerOperations worker;
  std::vector<Key> keys{Key(0)};
  for (std::uint32_t bit = 0; bit < 64; ++bit) keys.emplace_back(std::uint64_t{1} << bit);
  std::vector<OperationState*> operations;
  for (std::uint32_t id = 0; id < 8; ++id) {
    for (const Key key : keys) CHECK_FALSE(worker.contains(key, TableId(id)));
    operations.push_back(&worker.call(TableId(id), keys));
    for (const Key key : keys) CHECK(worker.contains(key, TableId(id)));
    worker.take(*operations.back());
  }
  CHECK(worker.total() == 8 * keys.size());
  for (std::size_t item = 0; item < keys.size(); ++item) worker.answer(*operations[5], item);
  for (std::uint32_t id = 0; id < 8; ++id)
    for (const Key key : keys) CHECK(worker.contains(key, TableId(id)) == (id != 5));
}
