#include "lapse/protocol/unanswered_table.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/transport/submission_queue.hpp"
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
  CHECK(first.items[1].entry == nullptr);  // The worker writes nothing of an operation that the engine has.
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
  // Nothing is left of them: the next operation is alone.
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
  // They meet with their own table's only.
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
  // Every other key, twice, and as many others between them.
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
  // Entries come in chunks; four rounds need no more than one.
  CHECK(entries.size() < many.size() + 64);
}

TEST_CASE("The table is exact in any order of operations, takes and answers") {
  WorkerOperations worker;
  lapse::RandomEngine random(3);
  struct Open {
    OperationState* operation;
    std::size_t item;
  };
  std::vector<Open> in_flight;
  std::deque<OperationState*> called;
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> expected;
  std::uint32_t total = 0;
  std::uint64_t met = 0;
  const auto key_of = [](const OperationState& operation, const OperationState::Item& item) {
    return std::pair(static_cast<std::uint32_t>(operation.scale), item.key.value());
  };
  for (int step = 0; step < 40'000; ++step) {
    // Long phases of growing and of shrinking, over many and over few keys.
    const std::uint64_t keys = step % 8000 < 4000 ? 2000 : 12;
    const bool grow = random.below(10) < ((step / 1000) % 2 == 0 ? 5U : 1U);
    const std::uint64_t what = random.below(3);
    if (grow && what == 0) {
      const auto table = static_cast<std::uint32_t>(random.below(2));
      const std::size_t items = random.below(3) == 0 ? 1 + random.below(60) : 1;
      OperationState& operation = worker.begin(TableId(table), random.below(2 * items));
      operation.scale = static_cast<float>(table);
      for (std::size_t i = 0; i < items; ++i) {
        const Key key(random.below(keys));
        const bool alone = expected[{table, key.value()}]++ == 0;
        REQUIRE((worker.add(operation, key) == nullptr) == alone);
        met += alone ? 0 : 1;
      }
      worker.finish(operation);
      called.push_back(&operation);
      total += static_cast<std::uint32_t>(items);
    } else if (!called.empty() && what == 1) {
      OperationState& operation = *called.front();
      called.pop_front();
      worker.take(operation);
      for (std::size_t item = 0; item < operation.items.size(); ++item)
        in_flight.push_back({&operation, item});
    } else if (!in_flight.empty()) {
      std::swap(in_flight[random.below(in_flight.size())], in_flight.back());
      const auto [operation, item] = in_flight.back();
      in_flight.pop_back();
      const auto key = key_of(*operation, operation->items[item]);
      REQUIRE(worker.answer(*operation, item));
      --expected[key];
      --total;
      if (operation->done()) worker.release(*operation);
    }
    REQUIRE(worker.total() == total);
    const std::uint64_t probe = random.below(keys);
    for (std::uint32_t table = 0; table < 2; ++table)
      REQUIRE(worker.contains(Key(probe), TableId(table)) == (expected[{table, probe}] > 0));
  }
  CHECK(met > 1000);
}

TEST_CASE("A worker and an engine thread agree: what was called is contained until it is answered") {
  constexpr std::uint64_t kCalls = 30'000;
  WorkerOperations worker;
  lapse::SubmissionQueue queue;
  std::atomic<std::uint64_t> wrong{0};

  std::thread engine([&] {
    lapse::RandomEngine random(4);
    std::vector<std::pair<OperationState*, std::size_t>> in_flight;
    for (std::uint64_t taken = 0; taken < kCalls || !in_flight.empty();) {
      lapse::Submission* next = queue.take_all();
      if (next == nullptr) std::this_thread::yield();
      while (next != nullptr) {
        auto& operation = static_cast<OperationState&>(*next);
        next = next->next;
        worker.take(operation);
        for (std::size_t item = 0; item < operation.items.size(); ++item)
          in_flight.emplace_back(&operation, item);
        ++taken;
      }
      // Some stay in flight while more come, unless nothing comes any more.
      const std::size_t keep = random.below(100);
      while (in_flight.size() > keep || (taken == kCalls && !in_flight.empty())) {
        std::swap(in_flight[random.below(in_flight.size())], in_flight.back());
        const auto [operation, item] = in_flight.back();
        in_flight.pop_back();
        if (!worker.answer(*operation, item)) wrong.fetch_add(1);
      }
    }
  });

  lapse::RandomEngine random(9);
  std::deque<OperationState*> open;
  std::uint64_t lost = 0;
  std::uint64_t kept = 0;
  const auto is_open = [&](Key key) {
    for (const OperationState* operation : open) {
      for (const OperationState::Item& item : operation->items) {
        if (item.key == key && item.state() != OperationState::ItemState::answered) return true;
      }
    }
    return false;
  };
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    while (open.size() > 20) {
      if (open.front()->done()) {
        worker.release(*open.front());
        open.pop_front();
      } else {
        std::this_thread::yield();
      }
    }
    std::vector<Key> keys(i % 3 == 0 ? 1 + random.below(20) : 1);
    for (Key& key : keys) key = Key(random.below(i % 2000 < 1000 ? 50 : 5000));
    OperationState& operation = worker.call(TableId(0), keys);
    open.push_back(&operation);
    for (const Key key : keys)
      if (!worker.contains(key)) ++lost;
    queue.push(operation);
    const Key probe(random.below(50));
    const bool before = is_open(probe);
    if (worker.contains(probe) ? !before : is_open(probe)) ++kept;
    if (i % 512 == 0) {
      // Now and then everything is answered: a total of zero is exact.
      while (worker.total() != 0) std::this_thread::yield();
      if (worker.contains(keys[0])) ++kept;
    }
  }
  engine.join();
  CHECK(lost == 0);
  CHECK(kept == 0);
  CHECK(wrong == 0);
  CHECK(worker.total() == 0);
}
