// WorkerCore: pushes to tables that bound how much copies may lack.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "lapse/consistency/push_magnitude.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/access/granted_push.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

void WorkerCore::throw_bounded(const TableHandle& table, std::string_view call) const {
  throw UsageError(fmt::format(
      "{} of worker {} on rank {} with table '{}', which bounds how much replicas may lack: what the call "
      "changes is not known before; expected push or push_elements",
      call, index(), phase_.rank.value(), table.name()));
}

// --- the gate of a table

ValueGate& WorkerCore::value_gate(const TableShard& table) {
  const std::size_t index = table.id().index();
  if (value_gates_.size() <= index) value_gates_.resize(index + 1);
  auto& gate = value_gates_[index];
  if (gate == nullptr) gate = std::make_unique<ValueGate>();
  gate->raise(phase_.levels->visible());
  return *gate;
}

Level WorkerCore::need_of(const TableShard& table, Key key) const {
  // If there is only the main copy now, it shows them all.
  const Store::Word* const word = table.store().find(key);
  if (word != nullptr) {
    const SlotWord now(word->load(std::memory_order_seq_cst));
    if (now.role() == Role::owner && !now.is_replicated()) return 0;
  }
  return phase_.levels->need(table.definition().members() > 1);
}

void WorkerCore::settle(ValueGate& gate, const TableShard& table, Key key) const {
  if (!gate.has_unanswered(key) || endpoint_.unanswered().contains(table.id(), key)) return;
  const GroupLevels& levels = *phase_.levels;
  const Level need = need_of(table, key);
  if (need == 0) return gate.answered(key, std::nullopt);
  gate.raise(levels.visible());
  try {
    gate.answered(key, need);
  } catch (const std::bad_alloc&) {
    // Counts as unanswered until the next attempt.
  }
}

void WorkerCore::settle_all(ValueGate& gate, const TableShard& table) const {
  gate.for_each_unanswered([&](Key key) { settle(gate, table, key); });
}

double WorkerCore::value_bound(const TableShard& table) const {
  const ValueBound& bound = *table.definition().value_bound;
  return bound.decays ? bound.bound / std::sqrt(static_cast<double>(endpoint_.clock()->now().value()) + 1)
                      : bound.bound;
}

void WorkerCore::want_epoch(Level epoch) {
  WorkerLevel& level = endpoint_.level();
  if (epoch <= level.wanted()) return;
  level.want(epoch);
  LevelNotice& notice = endpoint_.level_notice();
  if (!notice.raise()) return;
  notice.handler = &phase_.protocol.levels();
  submit(notice);
}

bool WorkerCore::may_push(const TableHandle& table, std::span<const Key> keys, double magnitude) {
  const TableShard& state = table.state();
  if (!state.definition().value_bound || state.definition().value_bound->strong) return true;
  ValueGate& gate = value_gate(state);
  settle_all(gate, state);
  // A copy: the keys may repeat.
  ValueGate after = gate;
  for (const Key key : keys) {
    if (!after.passes(key, magnitude, value_bound(state))) {
      if (!gate.has_unanswered(key)) want_epoch(gate.need(key).value_or(0));
      return false;
    }
    after.add_unanswered(key, magnitude);
  }
  return true;
}

void WorkerCore::wait_for_gate(const TableHandle& table, const BoundedPush::Unit& unit) {
  const TableShard& state = table.state();
  const GroupLevels& levels = *phase_.levels;
  const double bound = value_bound(state);
  ValueGate& gate = value_gate(state);
  settle(gate, state, unit.key);
  if (gate.passes(unit.key, unit.magnitude, bound)) return;
  const std::string what = fmt::format(
      "other copies: it has changed key {} of table '{}' by {} since they were known to show all, and the "
      "next push, of {}, would exceed the bound of {}",
      unit.key.value(), table.name(), gate.unsynced(unit.key), unit.magnitude, bound);
  const auto began = std::chrono::steady_clock::now();
  while (!gate.passes(unit.key, unit.magnitude, bound)) {
    if (gate.has_unanswered(unit.key)) {
      wait_for_copies([&] { return !endpoint_.unanswered().contains(state.id(), unit.key); }, what);
      settle(gate, state, unit.key);
      if (gate.has_unanswered(unit.key)) throw_out_of_memory(table, 1);
      continue;
    }
    want_epoch(gate.need(unit.key).value_or(0));
    // The epoch may become visible at any time, also while it is asked for.
    wait_for_copies(
        [&] {
          gate.raise(levels.visible());
          return gate.passes(unit.key, unit.magnitude, bound);
        },
        what);
  }
  count_value_wait(table, 1, began);
}

void WorkerCore::count_value_wait(const TableHandle& table, std::size_t waits,
                                  std::chrono::steady_clock::time_point began) {
  TableCounters& counters = gate_.counters(table);
  counters.value_waits += waits;
  counters.value_waiting_nanoseconds +=
      static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count());
}

// --- pushes

Operation WorkerCore::push_bounded(const TableHandle& table, const BoundedPush& push) try {
  // With more keys than this, the worker's sums are made smaller, even if no push waits for that.
  constexpr std::size_t kManyKeys = 4096;
  const TableShard& state = table.state();
  if (state.definition().value_bound->strong) return push_granted(table, push);
  ValueGate& gate = value_gate(state);
  if (gate.unanswered() > kManyKeys) settle_all(gate, state);
  if (gate.answered() > kManyKeys) want_epoch(gate.newest_need());
  const double bound = value_bound(state);
  std::exception_ptr failure;
  std::vector<Key> keys;
  for (std::size_t first = 0, end = 0;; first = end) {
    keys.clear();
    while (end < push.size) {
      const BoundedPush::Unit unit = push.unit(end);
      if (unit.magnitude > 0) {
        if (!gate.passes(unit.key, unit.magnitude, bound)) {
          // Nothing is settled while a push is counted that is not made yet.
          if (end > first) break;
          wait_for_gate(table, unit);
        }
        keys.push_back(unit.key);
        gate.add_unanswered(unit.key, unit.magnitude);
      }
      if (unit.magnitude > bound) ++gate_.counters(table).value_alone;
      end = unit.end;
    }
    Operation operation = push.push(first, end);
    for (const Key key : keys) {
      settle(gate, state, key);
      // Soon the next push would wait.
      if (gate.unsynced(key) > bound / 2 && !gate.has_unanswered(key)) want_epoch(gate.need(key).value_or(0));
    }
    if (end == push.size && !failure) return operation;
    try {
      operation.wait();
    } catch (const UserCodeFailed&) {
      if (!failure) failure = std::current_exception();
    } catch (const OutOfMemory&) {
      if (!failure) failure = std::current_exception();
    }
    if (end == push.size) {
      // The other keys are done.
      if (failure) std::rethrow_exception(failure);
      return {};
    }
  }
} catch (const std::bad_alloc&) {
  throw_out_of_memory(table, push.size);
}

// --- pushes that are granted

bool WorkerCore::push_sole(const TableHandle& table, const BoundedPush& push, std::size_t first,
                           const BoundedPush::Unit& unit) {
  TableShard& state = table.state();
  Store::Word* const word = state.store().find(unit.key);
  if (word == nullptr || !endpoint_.may_access_memory(state, unit.key, word)) return false;
  const auto apply = [&](std::byte* slot) { push.apply(first, unit.end, slot); };
  if (!state.store().update_at(*word, Store::Reach::sole, apply)) return false;
  observe(state, std::span(&unit.key, 1), Store::Reach::main, AccessKind::write);
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

// --- calls

BoundedPush WorkerCore::bounded_rows(const TableHandle& table, std::span<const Key> keys,
                                     const AccessRequest& request) {
  TableShard& state = table.state();
  const ElementType type = state.sizes().layout().type;
  const auto offsets = std::make_shared<std::vector<std::size_t>>(1);
  offsets->reserve(keys.size() + 1);
  for (const Key key : keys) offsets->push_back(offsets->back() + state.value_bytes(key));
  // Of this row on.
  const auto part = [request, offsets](std::size_t first) {
    AccessRequest rest = request;
    rest.updates += (*offsets)[first];
    return rest;
  };
  return {
      .size = keys.size(),
      .unit = [&state, keys, part, type](std::size_t at) -> BoundedPush::Unit {
        return {keys[at],
                push_magnitude(state.definition().rule.rule(), type, part(at).updates,
                               state.value_bytes(keys[at]) / element_bytes(type), part(at).operation.scale),
                at + 1};
      },
      .push = [this, &table, keys, part](
                  std::size_t first,
                  std::size_t end) { return access(table, keys.subspan(first, end - first), part(first)); },
      .apply =
          [&state, keys, part](std::size_t first, std::size_t, std::byte* slot) {
            state.apply(part(first).operation, keys[first], slot, part(first).updates, nullptr);
          }};
}

Operation WorkerCore::push_checked(const TableHandle& table, std::span<const Key> keys,
                                   const AccessRequest& request) {
  const TableShard& state = table.state();
  if (state.definition().value_bound) return push_bounded(table, bounded_rows(table, keys, request));
  if (!state.definition().caches_reads) return access(table, keys, request);
  try {
    Operation operation = access(table, keys, request);
    change_reads(state, keys, request);
    return operation;
  } catch (...) {
    // Some keys may be changed.
    forget_reads(table, keys);
    throw;
  }
}

Operation WorkerCore::push_elements_checked(const TableHandle& table, const ElementPairs& pairs,
                                            const AccessRequest& request) {
  const TableShard& state = table.state();
  if (!state.definition().value_bound) {
    forget_reads(table, pairs.keys);
    return access_elements(table, pairs, request);
  }
  const ElementType type = state.sizes().layout().type;
  const std::size_t bytes = element_bytes(type);
  return push_bounded(
      table, {.size = pairs.size(),
              .unit = [&](std::size_t at) -> BoundedPush::Unit {
                const std::size_t end = pairs.end_of_run(at);
                const auto indices = pairs.indices.subspan(at, end - at);
                const bool ascends =
                    std::ranges::adjacent_find(indices, std::greater_equal<>()) == indices.end();
                return {pairs.key(at),
                        push_magnitude(state.definition().rule.rule(), type, request.updates + at * bytes,
                                       end - at, request.operation.scale, !ascends),
                        end};
              },
              .push =
                  [&](std::size_t first, std::size_t end) {
                    AccessRequest part = request;
                    part.updates += first * bytes;
                    const ElementPairs few{
                        pairs.have_one_key() ? pairs.keys : pairs.keys.subspan(first, end - first),
                        pairs.indices.subspan(first, end - first)};
                    return access_elements(table, few, part);
                  },
              .apply =
                  [&](std::size_t first, std::size_t end, std::byte* slot) {
                    state.definition().rule.apply_elements(
                        slot, state.sizes().length(pairs.key(first)), &pairs.indices[first],
                        request.updates + first * bytes, end - first, request.operation.scale);
                  }});
}

}  // namespace lapse
