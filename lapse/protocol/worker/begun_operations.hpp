// The last operations of a worker, in program order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/protocol/worker/operation_state.hpp"

namespace lapse {

// Operations with consecutive numbers, which wrap, except those dropped. Their objects may have been reused
// meanwhile.
class BegunOperations {
 public:
  struct Begun {
    std::uint32_t number;
    std::uint32_t serial;  // of the object at that time
    TableId table;
    OperationState* object;

    // Null if it has been answered and the object may be in use again. Callers: the worker.
    OperationState* operation() const {
      return object->serial.load(std::memory_order_relaxed) == serial ? object : nullptr;
    }
    // Reads `remaining` first: if the object is in use again, its serial number changed before.
    bool answered() const { return object->done() || operation() == nullptr; }
    // Null if it has been answered: the worker may be using the object. Else the object stays as it is until
    // the engine answers it. Callers: the engine.
    OperationState* unanswered() const { return answered() ? nullptr : object; }
  };

  bool empty() const { return first_ == begun_.size(); }
  std::span<const Begun> all() const { return std::span(begun_).subspan(first_); }
  const Begun& oldest() const { return begun_[first_]; }
  const Begun& last() const { return begun_.back(); }

  // Throws std::bad_alloc and then has no effect.
  void add(OperationState& operation, TableId table, std::uint32_t number) {
    begun_.push_back({number, operation.serial.load(std::memory_order_relaxed), table, &operation});
  }
  // Drops the oldest operations while drop(operation).
  template <class Drop>
  void drop_while(Drop&& drop) {
    while (!empty() && drop(oldest())) ++first_;
    if (2 * first_ < begun_.size()) return;
    begun_.erase(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  // Drops all that have been answered, except the last. Callers: the engine.
  void drop_answered() {
    const Begun last = begun_.back();
    begun_.erase(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
    std::erase_if(begun_,
                  [&last](const Begun& begun) { return begun.number != last.number && begun.answered(); });
  }

 private:
  std::vector<Begun> begun_;
  std::size_t first_ = 0;
};

}  // namespace lapse
