// The size of the table of unanswered keys, as a function of the operations since the oldest unanswered one.
#include <algorithm>
#include <deque>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/protocol_operations.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::TableId;
using lapse::test::WorkerOperations;

namespace {

std::vector<Key> many_keys(std::uint64_t first, std::uint64_t count) {
  std::vector<Key> keys;
  for (std::uint64_t key = first; key < first + count; ++key) keys.emplace_back(key);
  return keys;
}

void answer_each(WorkerOperations& worker, OperationState& operation, bool keeps_handle = false) {
  for (std::size_t item = 0; item < operation.items.size(); ++item) worker.answer(operation, item);
  if (!keeps_handle) worker.release(operation);
}

}  // namespace

TEST_CASE("What was answered leaves the table when everything before it was") {
  WorkerOperations worker;
  std::size_t most_slots = 0;
  std::size_t most_operations = 0;
  OperationState* before = &worker.call({Key(7)});
  worker.take(*before);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    OperationState& operation = worker.call({Key(100 + i), Key(100 + i / 3)});
    worker.take(operation);
    CHECK(worker.contains(Key(100 + i)));
    answer_each(worker, *before);
    before = &operation;
    most_slots = std::max(most_slots, worker.unanswered().slots());
    most_operations = std::max(most_operations, worker.unanswered().operations());
  }
  CHECK(most_slots <= 1024);
  CHECK(most_operations <= 3);
}

TEST_CASE("Keys that are named again use no further slots, however long something else is unanswered") {
  WorkerOperations worker;
  worker.take(worker.call({Key(7)}));
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    OperationState& operation = worker.call({Key(100 + i % 3), Key(100 + i / 3 % 3)});
    worker.take(operation);
    CHECK(worker.contains(operation.items[0].key));
    answer_each(worker, operation);
    CHECK_FALSE(worker.contains(Key(100 + i % 3)));
  }
  CHECK(worker.unanswered().slots() <= 256);
  CHECK(worker.contains(Key(7)));
  CHECK(worker.total() == 1);
}

TEST_CASE("Many operations may be unanswered, and are found as they are answered in any order") {
  constexpr std::uint64_t kOperations = 3000;
  WorkerOperations worker;
  std::deque<OperationState*> open;
  for (std::uint64_t i = 0; i < kOperations; ++i) {
    open.push_back(&worker.call({Key(i)}));
    worker.take(*open.back());
  }
  CHECK(worker.unanswered().operations() == kOperations);
  for (std::uint64_t i = 0; i < kOperations; ++i) REQUIRE(worker.contains(Key(i)));
  // Every other operation is answered; then new ones take their slots.
  for (std::uint64_t i = 0; i < kOperations; i += 2) answer_each(worker, *open[i]);
  for (std::uint64_t i = 0; i < kOperations; ++i) REQUIRE(worker.contains(Key(i)) == (i % 2 == 1));
  for (std::uint64_t i = 0; i < 2 * kOperations; ++i) {
    OperationState& operation = worker.call({Key(kOperations + i)});
    worker.take(operation);
    answer_each(worker, operation);
  }
  for (std::uint64_t i = 0; i < kOperations; ++i) REQUIRE(worker.contains(Key(i)) == (i % 2 == 1));
}

TEST_CASE("One large operation does not make those after it dear") {
  constexpr std::uint64_t kMany = 50'000;
  WorkerOperations worker;
  OperationState& large = worker.call(TableId(0), many_keys(100, kMany));
  worker.take(large);
  CHECK(worker.contains(Key(100)));
  CHECK(worker.unanswered().slots() > kMany);
  answer_each(worker, large);
  // The table shrinks now and then while nothing is unanswered.
  for (std::uint64_t i = 0; i < 200; ++i) {
    OperationState& small = worker.call({Key(i)});
    worker.take(small);
    REQUIRE(worker.contains(Key(i)));
    answer_each(worker, small);
  }
  CHECK(worker.unanswered().slots() <= 1024);
}

TEST_CASE("Many operations without a question make the table forget what was asked before") {
  WorkerOperations worker({.keys = {.unasked = 100}});
  OperationState& straggler = worker.call({Key(7)});
  worker.take(straggler);
  CHECK(worker.contains(Key(7)));
  REQUIRE(worker.unanswered().slots() > 0);
  std::size_t forgotten = 0;
  OperationState* before = nullptr;
  for (std::uint64_t i = 0; i < 250; ++i) {
    OperationState& operation = worker.call({Key(100 + i)});
    worker.take(operation);
    if (worker.unanswered().slots() == 0) ++forgotten;
    if (before != nullptr) answer_each(worker, *before);
    before = &operation;
  }
  CHECK(forgotten >= 50);
  CHECK(worker.contains(Key(7)));
  CHECK(worker.contains(before->items[0].key));
  CHECK_FALSE(worker.contains(Key(200)));
  worker.answer(straggler, 0);
  CHECK_FALSE(worker.contains(Key(7)));
}

TEST_CASE(
    "A key whose last operation was answered before an earlier one is found as long as that one is open") {
  WorkerOperations worker;
  OperationState& first = worker.call({Key(5), Key(6), Key(5)});
  worker.take(first);
  for (int i = 0; i < 3; ++i) {
    OperationState& later = worker.call({Key(5), Key(8)});
    worker.take(later);
    CHECK(worker.contains(Key(5)));
    answer_each(worker, later);
    CHECK(worker.contains(Key(5)));
    CHECK(worker.contains(Key(5)));
    CHECK_FALSE(worker.contains(Key(8)));
    CHECK_FALSE(worker.contains(Key(8)));
  }
  worker.answer(first, 2);
  CHECK(worker.contains(Key(5)));
  worker.answer(first, 0);
  CHECK_FALSE(worker.contains(Key(5)));
  OperationState& last = worker.call({Key(8)});
  worker.take(last);
  CHECK(worker.contains(Key(8)));
}
