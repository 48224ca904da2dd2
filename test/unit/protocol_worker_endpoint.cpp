#include "lapse/protocol/worker/worker_endpoint.hpp"

#include <set>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using lapse::Key;
using lapse::OperationState;
using lapse::WorkerEndpoint;

namespace {

OperationState& opened(WorkerEndpoint& worker, std::uint32_t items, std::size_t bytes = 0) {
  OperationState& operation = worker.acquire();
  for (std::uint32_t i = 0; i < items; ++i) operation.items.emplace_back(Key(i), 0, 0);
  operation.payload.resize(bytes);
  operation.update_bytes = bytes;
  operation.remaining = items;
  worker.opened(operation);
  return operation;
}

}  // namespace

TEST_CASE("Operations have distinct numbers by which they are found; the number carries the worker") {
  WorkerEndpoint worker(5);
  CHECK(worker.local_index() == 5);
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    OperationState& operation = opened(worker, 1);
    CHECK(operation.worker == &worker);
    CHECK(numbers.insert(operation.number).second);
    CHECK(WorkerEndpoint::local_index_of(operation.number) == 5);
    CHECK(worker.find(operation.number) == &operation);
  }
  CHECK(worker.open() == 1000);
}

TEST_CASE("Numbers of no operation find nothing") {
  WorkerEndpoint worker(0);
  CHECK(worker.find(0) == nullptr);
  worker.acquire();
  CHECK(worker.find(0) != nullptr);
  CHECK(worker.find(1'000'000) == nullptr);
  CHECK(worker.find(0xffff'ffffU) == nullptr);
}

TEST_CASE(
    "A worker has a limited number of operations that are unfinished or in hand; a call learns of it at "
    "once") {
  WorkerEndpoint worker(0, {.operations = 512});
  std::vector<OperationState*> operations;
  for (int i = 0; i < 512; ++i) {
    REQUIRE_NOTHROW(worker.require_operation());
    operations.push_back(&opened(worker, 1));
  }
  CHECK_THROWS_AS(worker.require_operation(), lapse::UsageError);
  CHECK_THROWS_AS(worker.acquire(), lapse::UsageError);
  worker.answered(*operations[7], 1);
  CHECK_THROWS_AS(worker.require_operation(), lapse::UsageError);  // its handle is kept
  worker.release(*operations[8]);
  CHECK_THROWS_AS(worker.require_operation(), lapse::UsageError);  // it is unfinished
  worker.answered(*operations[8], 1);
  CHECK_NOTHROW(worker.require_operation());
  CHECK(&worker.acquire() == operations[8]);
  worker.release(*operations[7]);
  CHECK(&worker.acquire() == operations[7]);
}

TEST_CASE("An operation is open until its last item is answered") {
  WorkerEndpoint worker(0);
  OperationState& operation = opened(worker, 3, 100);
  OperationState& other = opened(worker, 1, 11);
  CHECK(worker.open() == 2);
  CHECK(worker.open_bytes() == 111);
  worker.answered(operation, 2);
  CHECK_FALSE(operation.done());
  CHECK(worker.open() == 2);
  worker.answered(operation, 1);
  CHECK(operation.done());
  CHECK(worker.open() == 1);
  CHECK(worker.open_bytes() == 11);
  worker.answered(other, 1);
  CHECK(worker.open() == 0);
  CHECK(worker.open_bytes() == 0);
}

TEST_CASE("A finished operation is used again, empty; an unfinished one only once it is finished") {
  WorkerEndpoint worker(0);
  OperationState& finished = opened(worker, 1, 8);
  OperationState& detached = opened(worker, 1, 8);
  const std::byte update{1};
  finished.updates = &update;
  const std::uint32_t serial = finished.serial;
  worker.answered(finished, 1);
  worker.release(finished);
  worker.release(detached);
  OperationState& again = worker.acquire();
  CHECK(&again == &finished);
  CHECK(again.serial != serial);  // old references to its items no longer match
  CHECK(again.items.empty());
  CHECK(again.updates == nullptr);
  CHECK(again.payload.empty());
  CHECK(again.update_bytes == 0);
  CHECK(again.destination == nullptr);

  // All other operations of the pool are used first; the detached one is not reused before it is answered.
  std::set<OperationState*> seen;
  for (int i = 0; i < 600; ++i) seen.insert(&opened(worker, 1));
  CHECK_FALSE(seen.contains(&detached));
  worker.answered(detached, 1);
  bool back = false;
  for (int i = 0; i < 600 && !back; ++i) back = &opened(worker, 1) == &detached;
  CHECK(back);
}
