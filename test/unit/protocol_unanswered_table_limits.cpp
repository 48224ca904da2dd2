// How many keys of a worker may be unanswered, and the limit of their numbers.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "lapse/core/limits.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_operations.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::TableId;
using lapse::test::WorkerOperations;

namespace {

std::vector<Key> key_range(std::uint64_t first, std::uint64_t count) {
  std::vector<Key> keys;
  for (std::uint64_t key = first; key < first + count; ++key) keys.emplace_back(key);
  return keys;
}

OperationState& take(WorkerOperations& worker, const std::vector<Key>& keys) {
  REQUIRE(worker.unanswered().has_room(keys.size()));
  OperationState& operation = worker.call(TableId(0), keys);
  worker.take(operation);
  return operation;
}

void answer(WorkerOperations& worker, OperationState& operation, std::size_t first, std::size_t end) {
  bool right = true;
  for (std::size_t item = first; item < end; ++item) right = worker.answer(operation, item) && right;
  CHECK(right);
  if (end == operation.items.size()) worker.release(operation);
}

}  // namespace

TEST_CASE("There is room for as many unanswered keys as can be counted, and for no more") {
  WorkerOperations worker;
  lapse::UnansweredTable& unanswered = worker.unanswered();
  CHECK(unanswered.has_room(lapse::limits::kKeysOfCall));
  OperationState& operation = worker.begin(TableId(0), 1, true);
  // Items that are never asked for.
  REQUIRE(unanswered.add_late(lapse::limits::kUnansweredKeys - 3));
  CHECK(worker.total() == lapse::limits::kUnansweredKeys - 3);
  CHECK(unanswered.has_room(3));
  CHECK_FALSE(unanswered.has_room(4));
  CHECK_FALSE(unanswered.has_room(lapse::limits::kKeysOfCall));
  REQUIRE(unanswered.add_late(3));
  CHECK(worker.total() == lapse::limits::kUnansweredKeys);
  CHECK(unanswered.has_room(0));
  CHECK_FALSE(unanswered.has_room(1));
  lapse::progress_role.assert_held();
  unanswered.finish_total(lapse::limits::kUnansweredKeys);
  CHECK(unanswered.has_room(lapse::limits::kKeysOfCall));
  worker.release(operation);
}

TEST_CASE("Numbers of items begin anew before they end, however many operations were answered") {
  WorkerOperations worker({.keys = {.unanswered = 1000, .numbers = 1000}});
  OperationState& keeper = take(worker, {Key(7)});
  for (std::uint64_t round = 0; round < 30; ++round) {
    // Repeated keys have one slot, and a number each.
    std::vector<Key> keys = key_range(100, 5);
    for (int i = 0; i < 6; ++i) keys.insert(keys.end(), keys.begin(), keys.begin() + 5 * (1 << i));
    keys.resize(300);
    OperationState& operation = take(worker, keys);
    CHECK(worker.contains(Key(102)));
    CHECK(worker.contains(Key(7)));
    answer(worker, operation, 0, keys.size());
    CHECK_FALSE(worker.contains(Key(102)));
  }
  answer(worker, keeper, 0, 1);
  CHECK(worker.total() == 0);
}

TEST_CASE("Operations that are answered in part keep the numbers of all their items") {
  WorkerOperations worker({.keys = {.unanswered = 1000, .numbers = 1000}});
  OperationState& first = take(worker, key_range(1000, 400));
  answer(worker, first, 0, 399);
  OperationState& second = take(worker, key_range(2000, 400));
  answer(worker, second, 0, 399);
  CHECK(worker.total() == 2);
  CHECK(worker.unanswered().has_room(200));
  CHECK_FALSE(worker.unanswered().has_room(201));
  OperationState& third = take(worker, key_range(3000, 200));
  CHECK(worker.contains(Key(1399)));
  CHECK(worker.contains(Key(2399)));
  CHECK(worker.contains(Key(3199)));
  CHECK_FALSE(worker.contains(Key(1000)));
  SECTION("the first ends") {
    answer(worker, first, 399, 400);
    CHECK(worker.unanswered().has_room(400));
    CHECK_FALSE(worker.unanswered().has_room(401));
    OperationState& fourth = take(worker, key_range(4000, 400));
    CHECK(worker.contains(Key(2399)));
    CHECK(worker.contains(Key(4399)));
    CHECK_FALSE(worker.contains(Key(1399)));
    answer(worker, fourth, 0, 400);
    answer(worker, third, 0, 200);
  }
  SECTION("the last ends") {
    answer(worker, third, 0, 200);
    CHECK(worker.unanswered().has_room(200));
    OperationState& fourth = take(worker, key_range(4000, 200));
    CHECK(worker.contains(Key(1399)));
    CHECK(worker.contains(Key(4199)));
    answer(worker, fourth, 0, 200);
    answer(worker, first, 399, 400);
  }
  answer(worker, second, 399, 400);
  CHECK(worker.total() == 0);
}

TEST_CASE("An operation that is answered while numbers begin anew gives its numbers to no other") {
  // Each operation finds no free numbers, and the previous one may be answered at any time.
  WorkerOperations worker({.keys = {.unanswered = 12, .numbers = 12}});
  take(worker, {Key(7)});
  const std::vector<Key> keys = key_range(100, 4);
  std::atomic<OperationState*> called = nullptr;
  std::atomic<bool> ended = false;
  std::atomic<int> wrong = 0;
  std::thread engine([&] {
    while (!ended) {
      OperationState* const operation = called.exchange(nullptr);
      if (operation == nullptr) {
        std::this_thread::yield();
        continue;
      }
      lapse::progress_role.assert_held();
      const auto& joins = operation->joins;
      wrong += static_cast<int>(std::ranges::count(joins, operation, &OperationState::Join::operation));
      worker.take(*operation);
      for (std::size_t item = 0; item < keys.size(); ++item) wrong += worker.answer(*operation, item) ? 0 : 1;
    }
  });
  for (int round = 0; round < 200'000 && wrong == 0; ++round) {
    while (!worker.unanswered().has_room(keys.size())) std::this_thread::yield();
    OperationState& operation = worker.call(TableId(0), keys);
    while (called.load() != nullptr) std::this_thread::yield();
    called = &operation;
    worker.release(operation);
  }
  while (worker.total() > 1 && wrong == 0) std::this_thread::yield();
  ended = true;
  engine.join();
  CHECK(wrong == 0);
  CHECK(worker.total() == 1);
}
