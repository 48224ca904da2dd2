// WorkerCore: pushes to tables that bound what all workers together change.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>

#include "lapse/ps/access/granted_push.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

bool WorkerCore::push_sole(const TableHandle& table, const BoundedPush& push, std::size_t first,
                           const BoundedPush::Unit& unit) {
  TableShard& state = table.state();
  Store::Word* const word = state.store().find(unit.key);
  if (word == nullptr || !endpoint_.may_access_memory(state, unit.key, word)) return false;
  const auto apply = [&](std::byte* slot) { push.apply(first, unit.end, slot); };
  if (!state.store().update_sole_at(*word, apply)) return false;
  observe(state, std::span(&unit.key, 1), Store::Reach::main);
  TableCounters& counters = gate_.counters(table);
  ++counters.local_pushes;
  ++endpoint_.keys_of_operations()[table.id().value()];
  if (first == 0) ++counters.operations;
  return true;
}

Operation WorkerCore::push_granted(const TableHandle& table, const BoundedPush& push) {
  GrantedPush granted(*this, table, push);
  granted.advance();
  if (!granted.is_done()) {
    const std::string what = fmt::format(
        "room for its change of key {} of table '{}': all workers' changes that some copy may lack are "
        "bounded",
        granted.awaited().value(), table.name());
    const auto began = std::chrono::steady_clock::now();
    while (!granted.is_done()) {
      wait_for_copies([&] { return granted.may_advance(); }, what);
      granted.advance();
    }
    count_value_wait(table, granted.waits(), began);
  }
  granted.rethrow();
  return {};
}

std::unique_ptr<GrantedPush> WorkerCore::begin_push(const TableHandle& table, std::span<const Key> keys,
                                                    const AccessRequest& request) {
  return std::make_unique<GrantedPush>(*this, table, bounded_rows(table, keys, request));
}

}  // namespace lapse
