// WorkerCore: pushes to tables that bound how much copies may lack.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "lapse/consistency/push_magnitude.hpp"
#include "lapse/core/error.hpp"
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
  gate->raise(phase_.protocol.levels().visible());
  gate->for_each_unanswered([&](Key key) { settle(*gate, table, key); });
  return *gate;
}

void WorkerCore::settle(ValueGate& gate, const TableShard& table, Key key) const {
  if (endpoint_.unanswered().contains(table.id(), key)) return;
  const Levels& levels = phase_.protocol.levels();
  // If there is only the main copy now, it shows them all.
  const Store::Word* const word = table.store().find(key);
  if (word != nullptr) {
    const SlotWord now(word->load(std::memory_order_seq_cst));
    if (now.role() == Role::owner && !now.is_replicated()) return gate.answered(key, std::nullopt);
  }
  const Level need = levels.need(table.definition().members() > 1);
  gate.raise(levels.visible());
  gate.answered(key, need);
}

double WorkerCore::value_bound(const TableShard& table) const {
  const ValueBound& bound = *table.definition().value_bound;
  return bound.decays ? bound.bound / std::sqrt(static_cast<double>(endpoint_.level().clock() + 1))
                      : bound.bound;
}

bool WorkerCore::want_visible(const ValueGate& gate, Key key) {
  if (gate.has_unanswered(key)) return false;
  const Level need = gate.need(key).value_or(0);
  WorkerLevel& level = endpoint_.level();
  if (need <= level.wanted()) return true;
  level.want(need);
  LevelNotice& notice = endpoint_.level_notice();
  if (notice.raise()) {
    notice.handler = &phase_.protocol.levels();
    submit(notice);
  }
  return true;
}

bool WorkerCore::may_push(const TableHandle& table, std::span<const Key> keys, double magnitude) {
  const TableShard& state = table.state();
  if (!state.definition().value_bound) return true;
  // A copy: the keys may repeat.
  ValueGate gate = value_gate(state);
  for (const Key key : keys) {
    if (!gate.passes(key, magnitude, value_bound(state))) {
      want_visible(value_gate(state), key);
      return false;
    }
    gate.add_unanswered(key, magnitude);
  }
  return true;
}

void WorkerCore::wait_for_gate(const TableHandle& table, const BoundedPush::Unit& unit) {
  const TableShard& state = table.state();
  const Levels& levels = phase_.protocol.levels();
  const std::string what = fmt::format(
      "other copies: it has changed key {} of table '{}' by {} since they were known to show all, and the "
      "next push, of {}, would exceed the bound of {}",
      unit.key.value(), table.name(), value_gate(state).unsynced(unit.key), unit.magnitude,
      value_bound(state));
  const auto began = std::chrono::steady_clock::now();
  while (!value_gate(state).passes(unit.key, unit.magnitude, value_bound(state))) {
    if (!want_visible(value_gate(state), unit.key)) {
      wait_for_copies([&] { return !endpoint_.unanswered().contains(state.id(), unit.key); }, what);
    } else {
      const Level visible = levels.visible();
      wait_for_copies([&] { return levels.visible() > visible; }, what);
    }
  }
  TableCounters& counters = gate_.counters(table);
  ++counters.value_waits;
  counters.value_waiting_nanoseconds +=
      static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count());
}

// --- pushes

Operation WorkerCore::push_bounded(const TableHandle& table, const BoundedPush& push) {
  const TableShard& state = table.state();
  ValueGate& gate = value_gate(state);
  const double bound = value_bound(state);
  std::vector<Key> keys;
  for (std::size_t first = 0, end = 0;; first = end) {
    keys.clear();
    while (end < push.size) {
      const BoundedPush::Unit unit = push.unit(end);
      if (unit.magnitude > 0 && !gate.passes(unit.key, unit.magnitude, bound)) {
        if (end > first) break;
        wait_for_gate(table, unit);
      }
      if (unit.magnitude > bound) ++gate_.counters(table).value_alone;
      if (unit.magnitude > 0) {
        gate.add_unanswered(unit.key, unit.magnitude);
        keys.push_back(unit.key);
      }
      end = unit.end;
    }
    Operation operation = push.push(first, end);
    for (const Key key : keys) {
      settle(gate, state, key);
      // Soon the next push would wait.
      if (gate.unsynced(key) > bound / 2) want_visible(gate, key);
    }
    if (end == push.size) return operation;
    operation.wait();
  }
}

Operation WorkerCore::push_checked(const TableHandle& table, std::span<const Key> keys,
                                   const AccessRequest& request) {
  const TableShard& state = table.state();
  if (!state.definition().value_bound) {
    Operation operation = access(table, keys, request);
    if (state.definition().caches_reads) change_reads(state, keys, request);
    return operation;
  }
  const ElementType type = state.sizes().layout().type;
  std::vector<std::size_t> offsets{0};
  offsets.reserve(keys.size() + 1);
  for (const Key key : keys) offsets.push_back(offsets.back() + state.value_bytes(key));
  return push_bounded(
      table, {.size = keys.size(),
              .unit = [&](std::size_t at) -> BoundedPush::Unit {
                return {keys[at],
                        push_magnitude(state.definition().rule.rule(), type, request.updates + offsets[at],
                                       (offsets[at + 1] - offsets[at]) / element_bytes(type),
                                       request.operation.scale),
                        at + 1};
              },
              .push =
                  [&](std::size_t first, std::size_t end) {
                    AccessRequest part = request;
                    part.updates += offsets[first];
                    return access(table, keys.subspan(first, end - first), part);
                  }});
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
                  }});
}

}  // namespace lapse
