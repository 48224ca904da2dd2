// WorkerCore: calls on many keys.
#include <fmt/format.h>

#include <new>
#include <optional>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/call_count.hpp"
#include "lapse/ps/access/direct_call.hpp"
#include "lapse/ps/access/local_access.hpp"
#include "lapse/ps/access/operation_builder.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

using Busy = WorkerGate::Busy;
using BusyGuard = WorkerGate::BusyGuard;

Operation WorkerCore::access(const TableHandle& table, std::span<const Key> keys,
                             const AccessRequest& request) {
  endpoint_.require_operation();
  wait_for_room(keys.size());
  observe(table.state(), keys, table.state().reach(request.operation), access_kind(request.operation.kind));
  try {
    return access_with_room(table, keys, request);
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(table, keys.size());
  }
}

void WorkerCore::throw_out_of_memory(const TableHandle& table, std::size_t keys) const {
  throw OutOfMemory(fmt::format("no memory on rank {} for a call on {} keys of table '{}'",
                                phase_.rank.value(), keys, table.state().name()));
}

Operation WorkerCore::access_with_room(const TableHandle& table, std::span<const Key> keys,
                                       const AccessRequest& request) {
  TableShard& state = table.state();
  const CallCount count(*this, gate_.counters(table), state, keys,
                        request.operation.kind == OperationKind::pull);
  const LocalAccess::Counts counts = count.keys();
  const std::size_t first = gate_.is_clear() ? LocalAccess::run(state, keys, request, counts) : 0;
  if (first == keys.size()) return {};
  sweep_required();
  LocalAccess local(state, keys, request, endpoint_, counts, phase_.rank, first);
  OperationBuilder builder(endpoint_, state, request, phase_.protocol.access(), keys.size() - first);
  // If the worker could hold the engine for long, other threads take turns between keys and sending.
  constexpr std::size_t kMaxBytesInEngine = std::size_t{4} << 20;
  const bool plain = !request.runs_user_code(state) && state.sizes().uniform();
  if (plain && keys.size() * state.sizes().layout().value_bytes() <= kMaxBytesInEngine) {
    local.carry_out_leading();
    if (local.at_end()) return {};
    if (state.definition().members() == 1) local.expect_no_arrivals(!gate_.is_clear());
    OperationState& operation = builder.state();
    DirectCall call(local, builder, phase_.protocol.access(), phase_.rank);
    const BusyGuard guard(gate_, Busy::engine);
    if (phase_.engine.try_submit(call)) {
      while (!call.is_complete()) [[unlikely]] {
          local.carry_out_leading();
          phase_.engine.submit_in_place(call);
        }
      Operation handle(*this, operation);
      const bool is_over = operation.items.empty() && operation.done() && !operation.failure;
      return is_over ? Operation() : std::move(handle);
    }
    local.expect_arrivals();
  }
  {
    std::optional<BusyGuard> guard;
    if (request.runs_user_code(state)) guard.emplace(gate_, Busy::user_code);
    try {
      local.carry_out_rest([&](const Row& row, const Store::Word*) { builder.add(row); });
    } catch (...) {
      if (!builder.refuse(local.next_key(), phase_.rank)) throw;
    }
  }
  std::optional<UserCodeFailed>& failure = local.failure();
  if (builder.empty()) {
    builder.discard();
    if (failure) throw UserCodeFailed(*failure);
    return {};
  }
  // The caller gets all failures in one place.
  if (failure) builder.fail(*failure);
  return submit(builder);
}

Operation WorkerCore::submit(OperationBuilder& builder) {
  OperationState& state = builder.finish();
  Operation handle(*this, state);
  const BusyGuard guard(gate_, Busy::engine);
  if (phase_.engine.try_submit(state)) return handle;
  // Another thread will carry it out later, when the call's rows may have changed.
  try {
    state.keep_updates();
  } catch (const std::bad_alloc&) {
    builder.refuse(state.items.front().key, phase_.rank);
  }
  phase_.engine.submit(state);
  return handle;
}

}  // namespace lapse
