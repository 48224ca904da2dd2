#include "lapse/protocol/worker/operation_state.hpp"

#include "lapse/protocol/table/registered_function.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

void OperationState::keep_update(Item& item) {
  if (item.is_kept || updates == nullptr) return;
  const std::size_t bytes =
      kind == OperationKind::call ? function->argument_bytes : table->value_bytes(item.key);
  const std::byte* const from = update(item);
  item.payload_offset = static_cast<std::uint32_t>(payload.size() / payload_unit);
  item.is_kept = true;
  payload.insert(payload.end(), from, from + bytes);
}

void OperationState::keep_updates() {
  if (updates == nullptr) return;
  payload.reserve(update_bytes);
  for (Item& item : items) keep_update(item);
}

void OperationState::fail_without_memory(Key key, Rank rank) {
  fail({KeyFailure::Kind::out_of_memory, table->name(), key, rank,
        "the call ended early, and not all of its keys were accessed"});
}

}  // namespace lapse
