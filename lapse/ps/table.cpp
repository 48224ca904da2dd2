#include "lapse/ps/table.hpp"

#include "lapse/core/error.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/foreign_table.hpp"

namespace lapse {

namespace {

// Whether the core checks pushes before they are applied.
bool checks_pushes(const TableDefinition& table) {
  return table.limits.any() || !table.is_inlined();
}

}  // namespace

TableHandle::TableHandle(TableShard& state, const void* server)
    : server_(server),
      // No server is there.
      inlined_for_(state.definition().is_inlined() ? server : &state),
      last_key_(state.store().last_key()),
      length_(state.store().sizes().uniform() ? state.store().sizes().layout().length : 0),
      memory_(&state.store()),
      push_rule_{.loop = state.definition().rule.loop(),
                 .parameters = state.definition().rule.parameters(),
                 .is_add = !checks_pushes(state.definition()) &&
                           state.definition().rule.kind() == UpdateRuleKind::add,
                 .is_direct = !checks_pushes(state.definition()) &&
                              state.definition().rule.kind() != UpdateRuleKind::custom,
                 .accepts_scale = state.definition().rule.accepts_scale()},
      id_(state.id()),
      is_sparse_(state.store().is_sparse()),
      lengths_(state.store().sizes().listed_lengths()),
      state_(&state) {}

const char* foreign_table(const void* server) {
  return server == nullptr ? "an empty Table, to which none of create_table was assigned"
                           : "a table of another server";
}

const TableShard& TableHandle::existing() const {
  if (state_ == nullptr) throw UsageError(foreign_table(nullptr));
  return *state_;
}

const std::string& TableHandle::name() const {
  return existing().name();
}

std::size_t TableHandle::state_elements(std::size_t length) const {
  return existing().store().sizes().layout().state_elements(length);
}

std::size_t TableHandle::other_length(Key key) const {
  const TableShard& table = existing();
  if (!has(key)) throw KeyOutOfRange(name(), key, keys(), table.definition().rank);
  return table.store().sizes().length(key);
}

}  // namespace lapse
