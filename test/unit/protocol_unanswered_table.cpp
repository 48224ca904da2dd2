#include "lapse/protocol/worker/unanswered_table.hpp"

#include <set>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/protocol_operations.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::TableId;
using lapse::UnansweredCount;
using lapse::UnansweredKey;
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
  CHECK(worker.answer(first, 0));
  CHECK(worker.contains(Key(7)));
  CHECK(worker.answer(second, 0));
  CHECK_FALSE(worker.contains(Key(7)));
  CHECK(worker.contains(Key(8)));
  CHECK(worker.answer(first, 1));
  CHECK(worker.total() == 0);
  CHECK_FALSE(worker.contains(Key(8)));
}

TEST_CASE("A key that one operation names has no entry, and then one for all that meet on it") {
  WorkerOperations worker;
  OperationState& first = worker.call({Key(1), Key(2), Key(3)});
  worker.take(first);
  for (const OperationState::Item& item : first.items) CHECK(item.entry == nullptr);
  OperationState& second = worker.call({Key(2), Key(4)});
  UnansweredKey* const entry = second.items[0].entry;
  REQUIRE(entry != nullptr);
  CHECK(entry->key == Key(2));
  CHECK(entry->count() == 2);
  CHECK(second.items[1].entry == nullptr);
  REQUIRE(second.joins.size() == 1);
  CHECK(first.items[1].entry == nullptr);  // The worker does not write to an operation that the engine has.
  worker.take(second);
  CHECK(first.items[1].entry == entry);
  CHECK(first.items[0].entry == nullptr);
  CHECK(entry->pin.unanswered == 2);
  OperationState& third = worker.call({Key(2)});
  CHECK(third.items[0].entry == entry);
  CHECK(third.joins.empty());
  worker.take(third);
  CHECK(entry->count() == 3);
  CHECK(entry->pin.unanswered == 3);
  CHECK(worker.answer(third, 0));
  CHECK(worker.answer(first, 1));
  CHECK(worker.contains(Key(2)));
  CHECK(worker.answer(second, 0));
  CHECK_FALSE(worker.contains(Key(2)));
  CHECK(worker.contains(Key(1)));
  // No state of them is left: the next operation is alone.
  CHECK(worker.call({Key(2)}).items[0].entry == nullptr);
}

TEST_CASE("An operation that is answered before the engine takes the one that it meets is not counted") {
  WorkerOperations worker;
  OperationState& first = worker.call({Key(1), Key(2)});
  worker.take(first);
  OperationState& second = worker.call({Key(1)});
  UnansweredKey* const entry = second.items[0].entry;
  CHECK(worker.answer(first, 0));
  CHECK(worker.contains(Key(1)));
  SECTION("its object has other items unanswered") {
    worker.take(second);
  }
  SECTION("its object is finished") {
    CHECK(worker.answer(first, 1));
    worker.take(second);
  }
  SECTION("its object is used again, for the key itself") {
    CHECK(worker.answer(first, 1));
    worker.release(first);
    OperationState& again = worker.call({Key(1)});
    REQUIRE(&again == &first);
    CHECK(again.items[0].entry == entry);
    worker.take(second);
    worker.take(again);
    CHECK(entry->count() == 2);
    CHECK(worker.answer(again, 0));
  }
  CHECK(entry->count() == 1);
  CHECK(entry->pin.unanswered == 1);
  CHECK(worker.answer(second, 0));
  CHECK_FALSE(worker.contains(Key(1)));
}

TEST_CASE("A key that an operation names several times has an entry in all of its items") {
  WorkerOperations worker;
  OperationState& operation = worker.call({Key(5), Key(6), Key(5), Key(5)});
  CHECK(worker.total() == 4);
  CHECK(operation.joins.size() == 1);
  worker.take(operation);
  UnansweredKey* const entry = operation.items[2].entry;
  REQUIRE(entry != nullptr);
  CHECK(operation.items[0].entry == entry);
  CHECK(operation.items[3].entry == entry);
  CHECK(operation.items[1].entry == nullptr);
  CHECK(entry->count() == 3);
  CHECK(entry->pin.unanswered == 3);
  for (const std::size_t item : {3, 0, 1}) CHECK(worker.answer(operation, item));
  CHECK(worker.contains(Key(5)));
  CHECK_FALSE(worker.contains(Key(6)));
  CHECK(worker.answer(operation, 2));
  CHECK(worker.total() == 0);
}

TEST_CASE("What a used object named before does not count") {
  WorkerOperations worker;
  OperationState& stays = worker.call({Key(100)});  // The total is not zero: nothing is cleared.
  worker.take(stays);
  for (std::uint64_t key = 0; key < 50; ++key) {
    OperationState& operation = worker.call({Key(key), Key(key + 1)});
    CHECK(operation.items[0].entry == nullptr);
    CHECK(operation.items[1].entry == nullptr);
    if (key > 0) CHECK_FALSE(worker.contains(Key(key - 1)));
    CHECK(worker.contains(Key(key + 1)));
    worker.take(operation);
    CHECK(worker.answer(operation, 1));
    CHECK(worker.answer(operation, 0));
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

TEST_CASE("The same key of different tables, and keys that differ in their high bits, are different") {
  WorkerOperations worker;
  std::vector<Key> keys{Key(0)};
  for (std::uint32_t bit = 0; bit < 64; ++bit) keys.emplace_back(std::uint64_t{1} << bit);
  std::vector<OperationState*> operations;
  for (std::uint32_t id = 0; id < 8; ++id) {
    for (const Key key : keys) CHECK_FALSE(worker.contains(key, TableId(id)));
    operations.push_back(&worker.call(TableId(id), keys));
    for (const OperationState::Item& item : operations.back()->items) CHECK(item.entry == nullptr);
    for (const Key key : keys) CHECK(worker.contains(key, TableId(id)));
    worker.take(*operations.back());
  }
  CHECK(worker.total() == 8 * keys.size());
  // They meet only operations on their own table.
  OperationState& second = worker.call(TableId(5), keys);
  REQUIRE(second.joins.size() == keys.size());
  for (const OperationState::Join& join : second.joins) {
    CHECK(join.operation == operations[5]);
    CHECK(join.entry->table == TableId(5));
    CHECK(join.entry->key == operations[5]->items[join.item].key);
  }
}

TEST_CASE("An operation may have more keys than it was begun for, and meet others while the table grows") {
  constexpr std::uint64_t kKeys = 5000;
  WorkerOperations worker;
  OperationState& first = worker.begin(TableId(0), 1);
  for (std::uint64_t key = 0; key < kKeys; ++key) worker.add(first, Key(key));
  worker.finish(first);
  for (std::uint64_t key = 0; key < kKeys; ++key) REQUIRE(worker.contains(Key(key)));
  worker.take(first);
  // Every other key, twice, and as many other keys between them.
  OperationState& second = worker.begin(TableId(0), 1);
  std::vector<UnansweredKey*> entries;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t key = 0; key < kKeys; key += 2) {
      UnansweredKey* const entry = worker.add(second, Key(key));
      REQUIRE(entry != nullptr);
      REQUIRE(entry->key == Key(key));
      if (round == 0) {
        entries.push_back(entry);
      } else {
        REQUIRE(entries[key / 2] == entry);
        REQUIRE(entry->count() == 3);
      }
      UnansweredKey* const other = worker.add(second, Key(kKeys + key));
      REQUIRE((other != nullptr) == (round == 1));
    }
  }
  worker.finish(second);
  CHECK(worker.total() == 3 * kKeys);
  worker.take(second);
  for (std::size_t item = 0; item < second.items.size(); ++item) {
    REQUIRE(second.items[item].entry != nullptr);
    REQUIRE(second.items[item].entry->key == second.items[item].key);
    REQUIRE(worker.answer(second, item));
  }
  for (std::uint64_t key = 0; key < 2 * kKeys; ++key) REQUIRE(worker.contains(Key(key)) == (key < kKeys));
  for (std::size_t item = 0; item < first.items.size(); ++item) REQUIRE(worker.answer(first, item));
  CHECK(worker.total() == 0);
}

TEST_CASE("After an operation of many keys the table is exact for few, and entries are used again") {
  WorkerOperations worker;
  std::set<UnansweredKey*> entries;
  std::vector<Key> many;
  for (std::uint64_t key = 0; key < 3000; ++key) many.emplace_back(key * 7);
  for (int round = 0; round < 4; ++round) {
    OperationState& first = worker.call(TableId(0), many);
    OperationState& second = worker.call(TableId(0), many);
    for (OperationState* const operation : {&first, &second}) worker.take(*operation);
    for (const OperationState::Item& item : first.items) entries.insert(item.entry);
    for (OperationState* const operation : {&second, &first}) {
      for (std::size_t item = 0; item < many.size(); ++item) REQUIRE(worker.answer(*operation, item));
      worker.release(*operation);
    }
    CHECK(worker.total() == 0);
    OperationState& few = worker.call({Key(1), Key(7)});
    worker.take(few);
    CHECK(worker.contains(Key(7)));
    for (std::uint64_t key = 2; key < many.size(); ++key) REQUIRE_FALSE(worker.contains(many[key]));
    for (const std::size_t item : {0, 1}) CHECK(worker.answer(few, item));
    worker.release(few);
  }
  // Entries are allocated in chunks; four rounds need no more than one.
  CHECK(entries.size() < many.size() + 64);
}
