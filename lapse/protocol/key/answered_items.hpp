// Items of an operation that are answered together.
#pragma once

#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/key/access.hpp"

namespace lapse {

// The destructor counts the items and notifies the worker. The operation must not be used afterwards.
class Access::AnsweredItems {
 public:
  AnsweredItems(Access& access, OperationState& operation) LAPSE_REQUIRES(progress_role)
      : access_(access), operation_(operation) {}
  AnsweredItems(const AnsweredItems&) = delete;
  AnsweredItems& operator=(const AnsweredItems&) = delete;
  ~AnsweredItems() LAPSE_REQUIRES(progress_role) {
    if (items_ > 0) operation_.worker->answered(operation_, items_);
  }

  // Adds an item that was executed at once, before it was in flight.
  void add_executed(OperationState::Item& item) LAPSE_REQUIRES(progress_role) {
    ++items_;
    item.set_state(OperationState::ItemState::answered);
  }
  // Adds an item that was in flight and that `responder` has executed. Its value has been stored.
  void add(OperationState::Item& item, Domain responder) LAPSE_REQUIRES(progress_role) {
    mark(item, responder);
    finish(item, responder);
  }
  // add in two steps. After mark, which may be rolled back, the item counts as answered. Returns whether
  // finish must follow, after the values of all items have been stored.
  bool mark(OperationState::Item& item, Domain responder) LAPSE_REQUIRES(progress_role) {
    ++items_;
    if (item.sent_to != responder) operation_.table->remember_location(item.key, responder);
    item.set_state(OperationState::ItemState::answered);
    return item.pinned != nullptr;
  }
  // Rolls back the first `items` marked items.
  template <class ItemAt>
  void roll_back(std::uint32_t items, const ItemAt& item_at) LAPSE_REQUIRES(progress_role) {
    for (std::uint32_t i = 0; i < items; ++i) item_at(i).set_state(OperationState::ItemState::in_flight);
    items_ = 0;
  }
  void finish(const OperationState::Item& item, Domain responder) LAPSE_REQUIRES(progress_role) {
    if (item.pinned != nullptr) [[unlikely]]
      finish_pinned(*item.pinned, responder);
  }

 private:
  void finish_pinned(PinnedKey& pinned, Domain responder) LAPSE_REQUIRES(progress_role) {
    Pin& pin = pinned.pin;
    --pin.unanswered;
    if (pin.unanswered > 0) {
      if (pin.entry && *pin.entry != responder &&
          Router::redirects(operation_.table->view(pinned.key), *pin.entry, responder))
        pin.redirected = true;
      return;
    }
    // The route is free: submit the held operations, in program order.
    pin = Pin{};
    if (!pinned.held.empty()) return access_.resume(pinned, true);
    operation_.worker->routes().release(pinned);
  }

  Access& access_;
  OperationState& operation_;
  std::uint32_t items_ = 0;
};

}  // namespace lapse
