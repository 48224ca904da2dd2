// WorkerCore: calls that are answered from memory alone.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/ps/access/operation_builder.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

using Busy = WorkerGate::Busy;
using BusyGuard = WorkerGate::BusyGuard;

bool WorkerCore::read_uninitialized(const TableShard& table, Key key, std::byte* to) {
  if (!table.store().is_sparse()) return false;
  const BusyGuard guard(gate_, Busy::user_code);
  return run_user_code(table.name(), key, phase_.rank, [&] { return table.read_uninitialized(key, to); });
}

void WorkerCore::sweep_required() {
  constexpr std::size_t kKeys = 4;
  RequiredVersions& required = endpoint_.required_versions();
  if (required.empty()) return;
  required.sweep(kKeys, [this](TableId id, Key key, Version version) {
    const TableShard& table = *phase_.protocol.registry().tables()[id.value()];
    const Store::Word* const word = table.store().find(key);
    if (word == nullptr) return true;
    const SlotWord now(word->load(std::memory_order_acquire));
    if (now.role() == Role::absent || now.role() == Role::owner) return true;
    return now.is_copy() && Version(table.store().copy_version(*word)) >= version;
  });
}

void WorkerCore::observe_update(const TableShard& table, Key key) const {
  if (phase_.observer == nullptr) return;
  const Store::Word* const word = table.store().find(key);
  if (word == nullptr || !table.store().is_open(*word)) return;
  const bool changes_copies = table.sizes().layout().copies == Copies::differences;
  if (!changes_copies && SlotWord(word->load(std::memory_order_relaxed)).is_copy()) return;
  observe(table, std::span(&key, 1), Store::Reach::any, AccessKind::write);
}

void WorkerCore::sample_read(const TableShard& table, Key key) {
  if (table.serves(key)) endpoint_.read_samples().note({table.id(), key, ReadSamples::Clock::now()});
}

const std::byte* WorkerCore::leased_value(const TableShard& table, Key key) {
  LeaseRequest& request = endpoint_.lease_request();
  const auto& items = request.items;
  const auto found =
      std::ranges::lower_bound(items, std::pair(table.id().value(), key.value()), {}, &LeaseRequest::order);
  const bool held = found != items.end() && found->table == &table && found->key == key;
  return held ? request.content(*found) : nullptr;
}

Operation WorkerCore::localize(const TableHandle& table, std::span<const Key> keys) {
  constexpr std::size_t kFarAhead = 24;
  constexpr std::size_t kWordsAhead = 16;
  // The holder of a lease must not wait, so its operations may exceed the limits.
  endpoint_.require_operation();
  if (gate_.busy() != Busy::lease) wait_for_room(0);
  const Store& store = table.state().store();
  const AccessRequest request{.operation = {.kind = OperationKind::localize}};
  OperationBuilder builder(endpoint_, table.state(), request, phase_.protocol.localize_requests(),
                           keys.size());
  try {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (store.is_sparse() && i + kFarAhead < keys.size()) store.prefetch_far(keys[i + kFarAhead]);
      if (i + kWordsAhead < keys.size()) store.prefetch_word(keys[i + kWordsAhead]);
      if (!has_main_copy(store.word(keys[i]).role())) builder.add(keys[i]);
    }
  } catch (const std::bad_alloc&) {
    builder.discard();
    throw_out_of_memory(table, keys.size());
  }
  return builder.empty() ? Operation() : submit(builder);
}

Locality WorkerCore::locality(const TableHandle& table, Key key) {
  const TableShard& state = table.state();
  if (gate_.busy() == Busy::lease && leased_value(state, key) != nullptr) return Locality::local;
  const Store::Word* const word = state.store().find(key);
  // An uninitialized key is local at its home.
  const bool local = word != nullptr ? state.store().is_open(*word)
                                     : state.definition().homes.home(key) == state.self_domain();
  if (local) return Locality::local;
  if (word != nullptr && state.store().is_out_of_reach(*word)) return Locality::private_to_neighbour;
  return Locality::not_local;
}

void WorkerCore::find_usable(const TableHandle& table, std::span<const Key> keys, std::span<bool> usable) {
  const TableShard& state = table.state();
  const Store& store = state.store();
  const bool ordered = !gate_.is_clear();
  std::array<Store::Word*, kMaxUsableAtOnce> words;
  store.find(keys, words.data());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // An uninitialized key is local at its home.
    usable[i] = words[i] != nullptr ? store.is_open(*words[i])
                                    : state.definition().homes.home(keys[i]) == state.self_domain();
    if (ordered && usable[i]) usable[i] = endpoint_.may_access_memory(state, keys[i], words[i]);
  }
}

bool WorkerCore::read_if_local(const TableHandle& table, Key key, std::byte* to) {
  if (!may_pass(table)) return false;
  const TableShard& state = table.state();
  const std::byte* leased = gate_.busy() == Busy::lease ? leased_value(state, key) : nullptr;
  if (leased != nullptr) {
    std::memcpy(to, leased, state.value_bytes(key));
  } else {
    if (!endpoint_.may_access_memory(state, key, state.store().find(key))) return false;
    const Found found = state.store().read(key, to);
    if (!found && !read_uninitialized(state, key, to)) return false;
    gate_.counters(table).copy_pulls += found.is_copy() ? 1 : 0;
  }
  ++gate_.counters(table).local_pulls;
  observe(state, std::span(&key, 1), Store::Reach::any, AccessKind::read);
  return true;
}

void WorkerCore::for_each_local(const TableHandle& table,
                                const std::function<void(Key, const std::byte*, std::size_t)>& f) {
  check_admission(table, Allowed::when_free);
  wait_all();
  const TableShard& state = table.state();
  std::vector<std::byte> value;
  state.store().for_each_here([&](Key key) {
    if (!state.serves(key)) return;
    value.resize(state.value_bytes(key));
    if (!state.store().read(key, value.data())) return;
    // Newer than what was kept.
    forget_reads(table, std::span(&key, 1));
    f(key, value.data(), table.length(key));
    check_life();
  });
}

}  // namespace lapse
