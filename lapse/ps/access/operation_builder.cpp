#include "lapse/ps/access/operation_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "lapse/protocol/table/element_payload.hpp"

namespace lapse {

namespace {
// Looking up a key's owner saves a hop. With more keys than this, all are sent to their homes.
constexpr std::size_t kMaxLookups = 8;
}  // namespace

void OperationBuilder::begin() {
  OperationState& operation = endpoint_.acquire();
  try {
    begin(operation);
  } catch (...) {
    endpoint_.release(operation);
    throw;
  }
  state_ = &operation;
}

void OperationBuilder::begin(OperationState& operation) {
  static_cast<ValueOperation&>(operation) = request_.operation;
  operation.table = &table_;
  operation.destination = request_.destination;
  operation.updates = request_.updates;
  operation.handler = &handler_;
  const bool call = request_.operation.kind == OperationKind::call;
  const std::size_t element = element_bytes(table_.sizes().layout().type);
  operation.row_unit = call ? request_.operation.function->result_bytes : element;
  operation.payload_unit =
      std::max<std::size_t>(1, call ? request_.operation.function->argument_bytes : element);
  if (is_on_elements(request_.operation.kind)) {
    // The payload is kept from the start.
    operation.updates = nullptr;
    operation.payload_unit = ElementPayload::unit(request_.operation.kind, element);
  }
  // Reserves little: most keys may be local.
  constexpr std::size_t kFirstItems = 512;
  const std::size_t items = std::min(keys_, kFirstItems);
  operation.items.reserve(items);
  if (request_.operation.kind == OperationKind::localize) return;
  // An item may be held until the lookup of its owner has ended.
  operation.holdable = table_.exposed_owners() && keys_ <= kMaxLookups;
  endpoint_.unanswered().begin(operation, table_.id());
}

void OperationBuilder::add(std::span<const Key> call, std::span<const std::uint32_t> positions) {
  OperationState& operation = state();
  std::vector<OperationState::Item>& items = operation.items;
  // A key that counts as unanswered must become an item: reserves before.
  if (items.capacity() - items.size() < positions.size())
    items.reserve(std::max(items.size() + positions.size(), 2 * items.capacity()));
  const auto length = static_cast<std::uint32_t>(table_.sizes().layout().length);
  endpoint_.unanswered().add(static_cast<std::uint32_t>(positions.size()));
  for (const std::uint32_t position : positions) {
    const std::uint32_t offset = position * length;
    items.emplace_back(call[position], offset, offset);
  }
  if (request_.updates != nullptr)
    operation.update_bytes += positions.size() * table_.sizes().layout().value_bytes();
}

void OperationBuilder::add(const ElementPairs& pairs, std::size_t first, std::size_t end) {
  OperationState& operation = state();
  const std::size_t element = operation.row_unit;
  const OperationKind kind = request_.operation.kind;
  const auto count = static_cast<std::uint32_t>(end - first);
  std::vector<std::byte>& payload = operation.payload;
  const std::size_t at = payload.size();
  payload.resize(at + ElementPayload::bytes(kind, count, element));
  std::byte* const to = payload.data() + at;
  std::memcpy(to, &count, sizeof count);
  std::memcpy(to + ElementPayload::kCountBytes, &pairs.indices[first], count * sizeof(std::uint32_t));
  if (kind == OperationKind::push_elements) {
    std::memcpy(to + ElementPayload::updates_at(count, element), request_.updates + first * element,
                count * element);
  }
  const Key key = pairs.key(first);
  try {
    OperationState::Item& item = operation.items.emplace_back(
        key, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(at / operation.payload_unit));
    item.is_kept = true;
    endpoint_.unanswered().add();
  } catch (...) {
    payload.resize(at);
    throw;
  }
  operation.update_bytes += payload.size() - at;
}

bool OperationBuilder::refuse(Key key, Rank rank) noexcept {
  if (empty()) {
    discard();
    return false;
  }
  state_->refused = true;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    state_->fail_without_memory(key, rank);
  } catch (...) {
    state_->fail(KeyFailure::caught(table_.name(), key, rank));
  }
  return true;
}

OperationState& OperationBuilder::finish() {
  // An engine that searches for unanswered operations finds the items (WorkerEndpoint::for_each_open).
  state_->remaining.store(static_cast<std::uint32_t>(state_->items.size()), std::memory_order_release);
  endpoint_.opened(*state_);
  return *state_;
}

}  // namespace lapse
