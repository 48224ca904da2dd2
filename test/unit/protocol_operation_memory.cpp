// The memory that operations of one worker keep, and that no reference is left to what they have freed.
#include <cstddef>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/protocol_operations.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::progress_role;
using lapse::TableId;
using lapse::test::WorkerOperations;

namespace {

constexpr std::uint64_t kFirst = 1000;
// Their items need more memory than an endpoint keeps for finished operations.
constexpr std::size_t kMany = lapse::WorkerEndpoint::kKeptBytes / sizeof(OperationState::Item) + 1;

std::vector<Key> many_keys() {
  std::vector<Key> keys;
  for (std::uint64_t key = kFirst; key < kFirst + kMany; ++key) keys.emplace_back(key);
  return keys;
}

void answer_all(WorkerOperations& worker, OperationState& operation) {
  for (std::size_t item = 0; item < operation.items.size(); ++item) worker.answer(operation, item);
}

// The actual memory, not the operation's own count.
std::size_t memory_of(const OperationState& operation) LAPSE_REQUIRES(progress_role) {
  return operation.items.capacity() * sizeof(OperationState::Item) + operation.payload.capacity() +
         operation.order.capacity() * sizeof(std::uint32_t);
}

// Runs an operation on all these keys, from its call to its last answer, while others of the worker are
// unanswered.
void large_operation(WorkerOperations& worker, const std::vector<Key>& keys) {
  OperationState& large = worker.call(TableId(0), keys);
  worker.take(large);
  answer_all(worker, large);
  worker.release(large);
  CHECK(large.items.capacity() == 0);
}

}  // namespace

TEST_CASE("Keys of an operation whose items are gone are asked for and named again beside another one") {
  const std::vector<Key> keys = many_keys();
  WorkerOperations worker;
  OperationState& keeper = worker.call({Key(7)});
  worker.take(keeper);
  OperationState& other = worker.call({Key(8)});
  worker.take(other);
  large_operation(worker, keys);
  SECTION("asked for") {
    CHECK_FALSE(worker.contains(keys.front()));
    CHECK_FALSE(worker.contains(keys.back()));
    CHECK(worker.contains(Key(7)));
  }
  SECTION("named again by the operation that had them") {
    OperationState& again = worker.call({keys.back()});
    CHECK(worker.contains(keys.back()));
    CHECK_FALSE(worker.contains(keys.front()));
    worker.take(again);
  }
  SECTION("named again by another operation") {
    answer_all(worker, other);
    worker.release(other);
    OperationState& next = worker.call({keys.front(), keys.back()});
    CHECK(&next == &other);
    CHECK(worker.contains(keys.front()));
    worker.take(next);
  }
  SECTION("named again by another large operation") {
    OperationState& next = worker.call(TableId(0), keys);
    worker.take(next);
  }
}

TEST_CASE("Operations that are done keep a bounded amount of memory, whatever they used it for") {
  progress_role.assert_held();  // There is no engine.
  WorkerOperations worker;
  OperationState& operation = worker.call({Key(1)});
  worker.take(operation);
  const std::size_t bytes = lapse::WorkerEndpoint::kKeptBytes + 1;
  SECTION("updates") {
    operation.payload.reserve(bytes);
  }
  SECTION("positions in the order of routes") {
    operation.order.reserve(bytes / sizeof(std::uint32_t) + 1);
  }
  answer_all(worker, operation);
  worker.release(operation);
  CHECK(memory_of(operation) == 0);
}

TEST_CASE("What operations keep is counted for all of them together") {
  progress_role.assert_held();
  WorkerOperations worker;
  std::vector<OperationState*> operations;
  for (std::uint64_t key = 0; key < 8; ++key) {
    operations.push_back(&worker.call({Key(key)}));
    worker.take(*operations.back());
    operations.back()->order.reserve(lapse::WorkerEndpoint::kKeptBytes / sizeof(std::uint32_t) / 4);
  }
  std::size_t kept = 0;
  for (OperationState* operation : operations) {
    answer_all(worker, *operation);
    worker.release(*operation);
    kept += memory_of(*operation);
  }
  CHECK(kept > 0);
  CHECK(kept <= lapse::WorkerEndpoint::kKeptBytes);
}

TEST_CASE("An operation that is used many times in turn keeps its memory") {
  progress_role.assert_held();
  WorkerOperations worker;
  for (int use = 0; use < 20; ++use) {
    OperationState& operation = worker.call({Key(1)});
    worker.take(operation);
    operation.order.reserve(lapse::WorkerEndpoint::kKeptBytes / sizeof(std::uint32_t) / 4);
    answer_all(worker, operation);
    worker.release(operation);
    CHECK(memory_of(operation) > lapse::WorkerEndpoint::kKeptBytes / 5);
  }
}
