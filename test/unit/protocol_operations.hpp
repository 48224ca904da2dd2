// Operations of one worker without messages: the steps of the worker when it calls, and of the engine when it
// takes an operation and when an answer arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "lapse/protocol/worker/worker_endpoint.hpp"

namespace lapse::test {

// Thread safety: the worker's thread calls begin, add, finish and release; the engine's thread the other
// functions.
class WorkerOperations {
 public:
  explicit WorkerOperations(const WorkerEndpoint::Limits& limits = {}) : worker_(0, limits) {}

  // --- the worker

  OperationState& begin(TableId table) {
    OperationState& operation = worker_.acquire();
    operation.kind = OperationKind::push;
    unanswered().begin(operation, table);
    return operation;
  }
  void add(OperationState& operation, Key key) {
    operation.items.emplace_back(key, 0, 0);
    unanswered().add();
  }
  void finish(OperationState& operation) {
    operation.remaining.store(static_cast<std::uint32_t>(operation.items.size()), std::memory_order_release);
    worker_.opened(operation);
  }
  OperationState& call(TableId table, std::span<const Key> keys) {
    OperationState& operation = begin(table);
    for (const Key key : keys) add(operation, key);
    finish(operation);
    return operation;
  }
  OperationState& call(std::initializer_list<Key> keys) {
    return call(TableId(0), std::span(keys.begin(), keys.size()));
  }
  void release(OperationState& operation) { worker_.release(operation); }

  // --- the engine

  // Takes a submitted operation: its items are in flight. Operations are taken in program order.
  void take(OperationState& operation) {
    for (OperationState::Item& item : operation.items) item.set_state(OperationState::ItemState::in_flight);
  }
  void answer(OperationState& operation, std::size_t item) {
    operation.items[item].set_state(OperationState::ItemState::answered);
    worker_.answered(operation, 1);
  }

  UnansweredTable& unanswered() { return worker_.unanswered(); }
  bool contains(Key key, TableId table = TableId(0)) { return worker_.unanswered().contains(table, key); }
  std::uint32_t total() const { return worker_.unanswered().total(); }
  WorkerEndpoint& worker() { return worker_; }

 private:
  WorkerEndpoint worker_;
};

}  // namespace lapse::test
