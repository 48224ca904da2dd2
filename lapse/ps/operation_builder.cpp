#include "lapse/ps/operation_builder.hpp"

#include <algorithm>
#include <cstdint>

namespace lapse {

OperationState& OperationBuilder::state() {
  if (state_ == nullptr) {
    state_ = &endpoint_.acquire();
    static_cast<ValueOperation&>(*state_) = request_.operation;
    state_->table = &table_;
    state_->destination = request_.destination;
    state_->handler = &handler_;
  }
  return *state_;
}

void OperationBuilder::add(const Row& row, const RowCursor& cursor) {
  OperationState& operation = state();
  operation.row_unit = cursor.destination_unit();
  operation.payload_unit = std::max<std::size_t>(1, cursor.update_unit());
  const std::size_t payload_offset = operation.payload.size() / operation.payload_unit;
  operation.items.push_back({row.key, &endpoint_.unanswered().add(table_.id(), row.key),
                             static_cast<std::uint32_t>(row.offset),
                             static_cast<std::uint32_t>(payload_offset), false});
  operation.payload.insert(operation.payload.end(), row.update.begin(), row.update.end());
}

OperationState& OperationBuilder::finish() {
  // An engine that looks for unanswered operations finds the items (WorkerEndpoint::for_each_open).
  state_->remaining.store(static_cast<std::uint32_t>(state_->items.size()), std::memory_order_release);
  endpoint_.opened(*state_);
  return *state_;
}

}  // namespace lapse
