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

  // `expected`: how many keys the worker says will follow. `same_way`: Repeats::go_one_way.
  // `holdable`: any of its items may be held.
  OperationState& begin(TableId table, std::size_t expected, bool same_way = false, bool holdable = false) {
    OperationState& operation = worker_.acquire();
    operation.kind = OperationKind::push;
    operation.holdable = holdable;
    using Repeats = UnansweredTable::Repeats;
    unanswered().begin(operation, table, expected, expected,
                       same_way ? Repeats::go_one_way : Repeats::have_entries);
    return operation;
  }
  UnansweredKey* add(OperationState& operation, Key key) {
    UnansweredKey* const entry = unanswered().add(key);
    operation.items.emplace_back(key, entry, 0, 0);
    return entry;
  }
  void finish(OperationState& operation) {
    operation.remaining.store(static_cast<std::uint32_t>(operation.items.size()), std::memory_order_release);
    worker_.opened(operation);
  }
  OperationState& call(TableId table, std::span<const Key> keys, bool same_way = false) {
    OperationState& operation = begin(table, keys.size(), same_way);
    for (const Key key : keys) add(operation, key);
    finish(operation);
    return operation;
  }
  OperationState& call(std::initializer_list<Key> keys, bool same_way = false) {
    return call(TableId(0), std::span(keys.begin(), keys.size()), same_way);
  }
  void release(OperationState& operation) { worker_.release(operation); }

  // --- the engine

  // Takes a submitted operation: its items are in flight. Operations are taken in program order.
  void take(OperationState& operation) {
    for (const auto& [entry, earlier, serial, item] : operation.joins) {
      const bool is_open = !earlier->done() && earlier->serial.load(std::memory_order_relaxed) == serial;
      if (!is_open || earlier->items[item].state() == OperationState::ItemState::answered) {
        UnansweredTable::finish(*entry);
        continue;
      }
      earlier->items[item].entry = entry;
      if (earlier->items[item].in_flight()) ++entry->pin.unanswered;
    }
    for (OperationState::Item& item : operation.items) {
      item.set_state(OperationState::ItemState::in_flight);
      if (item.entry != nullptr) ++item.entry->pin.unanswered;
    }
  }
  // Returns false if the pin counts no operation in flight: it belongs to another key, or was lost.
  bool answer(OperationState& operation, std::size_t index) {
    OperationState::Item& item = operation.items[index];
    item.set_state(OperationState::ItemState::answered);
    bool right = true;
    if (UnansweredKey* const entry = item.entry) {
      right = entry->key == item.key && entry->pin.unanswered > 0;
      --entry->pin.unanswered;
      UnansweredTable::finish(*entry);
    }
    worker_.answered(operation, 1);
    return right;
  }

  UnansweredTable& unanswered() { return worker_.unanswered(); }
  bool contains(Key key, TableId table = TableId(0)) { return worker_.unanswered().contains(table, key); }
  std::uint32_t total() const { return worker_.unanswered().total(); }
  WorkerEndpoint& worker() { return worker_; }

 private:
  WorkerEndpoint worker_;
};

}  // namespace lapse::test
