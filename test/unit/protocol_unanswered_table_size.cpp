// The size of the table of unanswered keys, as a function of the keys that are unanswered now.
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

void answer_all(WorkerOperations& worker, OperationState& operation, bool keeps_handle = false) {
  for (std::size_t item = 0; item < operation.items.size(); ++item) REQUIRE(worker.answer(operation, item));
  if (!keeps_handle) worker.release(operation);
}

}  // namespace

TEST_CASE("What was answered leaves the table, however long something else is unanswered") {
  // Keys that are named again, in operations whose handles are kept, use no further slots.
  const bool keeps_handles = GENERATE(false, true);
  const std::uint64_t different_keys = keeps_handles ? 3 : 20'000;
  WorkerOperations worker;
  worker.take(worker.call({Key(7)}));
  std::size_t most_slots = 0;
  std::size_t most_operations = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    OperationState& operation =
        worker.call({Key(100 + i % different_keys), Key(100 + i / 3 % different_keys)});
    worker.take(operation);
    answer_all(worker, operation, keeps_handles);
    most_slots = std::max(most_slots, worker.unanswered().slots());
    most_operations = std::max(most_operations, worker.unanswered().operations());
  }
  CHECK(most_slots <= 1024);
  CHECK(most_operations <= 128);
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
  CHECK(worker.unanswered().operations() >= kOperations);
  CHECK(worker.unanswered().operations() <= 2 * kOperations);
  for (std::uint64_t i = 0; i < kOperations; ++i) REQUIRE(worker.contains(Key(i)));
  // Every other operation is answered; then new ones take their slots.
  for (std::uint64_t i = 0; i < kOperations; i += 2) answer_all(worker, *open[i]);
  for (std::uint64_t i = 0; i < kOperations; ++i) REQUIRE(worker.contains(Key(i)) == (i % 2 == 1));
  for (std::uint64_t i = 0; i < 2 * kOperations; ++i) {
    OperationState& operation = worker.call({Key(kOperations + i)});
    worker.take(operation);
    answer_all(worker, operation);
  }
  CHECK(worker.unanswered().operations() <= 2 * kOperations);
  for (std::uint64_t i = 0; i < kOperations; ++i) REQUIRE(worker.contains(Key(i)) == (i % 2 == 1));
}

TEST_CASE("One large operation does not make those after it dear") {
  constexpr std::uint64_t kMany = 50'000;
  const bool something_stays = GENERATE(false, true);
  WorkerOperations worker;
  if (something_stays) worker.take(worker.call({Key(7)}));
  OperationState& large = worker.call(TableId(0), many_keys(100, kMany));
  worker.take(large);
  CHECK(worker.unanswered().slots() > kMany);
  answer_all(worker, large);
  // While another operation is unanswered, it takes some time.
  for (std::uint64_t i = 0; i < (something_stays ? 200U : 1U); ++i) {
    OperationState& small = worker.call({Key(i)});
    worker.take(small);
    answer_all(worker, small);
  }
  CHECK(worker.unanswered().slots() <= 1024);
  CHECK(worker.contains(Key(7)) == something_stays);
  for (const Key key : many_keys(100, kMany)) REQUIRE_FALSE(worker.contains(key));
}
