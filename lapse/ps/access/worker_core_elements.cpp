// WorkerCore: calls on single elements.
#include <new>
#include <optional>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/call_count.hpp"
#include "lapse/ps/access/element_access.hpp"
#include "lapse/ps/access/element_checks.hpp"
#include "lapse/ps/access/operation_builder.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

using Busy = WorkerGate::Busy;
using BusyGuard = WorkerGate::BusyGuard;

Operation WorkerCore::access_elements(const TableHandle& table, const ElementPairs& pairs,
                                      const AccessRequest& request) {
  endpoint_.require_operation();
  wait_for_room(pairs.size());
  observe(table.state(), pairs.keys, table.state().reach(request.operation),
          access_kind(request.operation.kind));
  try {
    return access_elements_with_room(table, pairs, request);
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(table, pairs.size());
  }
}

Operation WorkerCore::access_elements_with_room(const TableHandle& table, const ElementPairs& pairs,
                                                const AccessRequest& request) {
  if (pairs.size() == 0) return {};
  TableShard& state = table.state();
  const CallCount count(*this, gate_.counters(table), state, pairs.keys, is_read(request.operation.kind));
  ElementAccess access(state, pairs, request, count.keys(), phase_.rank);
  if (gate_.is_clear()) access.carry_out_leading();
  if (access.at_end()) return {};
  sweep_required();
  OperationBuilder builder(endpoint_, state, request, phase_.protocol.access(), pairs.size() - access.next());
  {
    std::optional<BusyGuard> guard;
    if (request.runs_user_code(state)) guard.emplace(gate_, Busy::user_code);
    try {
      access.carry_out_rest(endpoint_,
                            [&](std::size_t first, std::size_t end) { builder.add(pairs, first, end); });
    } catch (...) {
      if (!builder.refuse(access.next_key(), phase_.rank)) throw;
    }
  }
  if (builder.empty()) {
    builder.discard();
    if (access.failure()) throw UserCodeFailed(*access.failure());
    return {};
  }
  // The caller gets all failures in one place.
  if (access.failure()) builder.fail(*access.failure());
  return submit(builder);
}

}  // namespace lapse
