#include "lapse/ps/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "lapse/core/error.hpp"
#include "lapse/ps/stall_watch.hpp"

namespace lapse {

namespace {
// Positions of keys in a call travel as 32 bits.
constexpr std::size_t kMaxKeysPerCall = std::size_t{1} << 31;
}  // namespace

// --- checks ---

void Worker::check_call(const void* server) const {
  if (server != phase_.server) {
    throw UsageError(
        fmt::format("a worker of rank {} was given a table of another server", phase_.rank.value()));
  }
  if (in_user_code_) throw UsageError("the server was called from a function that runs under a key's latch");
}

void Worker::check_arguments(const TableState& table, std::span<const Key> keys, std::string_view what,
                             std::size_t elements) const {
  if (keys.size() > kMaxKeysPerCall) {
    throw UsageError(fmt::format("a call on table '{}' with {} keys: at most {}", table.name, keys.size(),
                                 kMaxKeysPerCall));
  }
  const std::size_t expected = keys.size() * table.store.layout().length;
  if (elements != expected) throw LengthMismatch(table.name, what, elements, expected, phase_.rank);
  for (const Key key : keys) {
    if (key.value() >= table.store.keys()) {
      throw KeyOutOfRange(table.name, key, table.store.keys(), phase_.rank);
    }
  }
}

// --- operations ---

Operation Worker::begin(OperationKind kind, TableState& table, std::span<const Key> keys,
                        const std::byte* updates, std::byte* destination) {
  constexpr std::size_t kWordsAhead = 16;
  constexpr std::size_t kValuesAhead = 6;
  wait_for_room();
  const std::size_t row = table.value_bytes();
  const DenseStore& store = table.store;
  UnansweredTable& unanswered = endpoint_.unanswered();
  TableCounters& counters = endpoint_.counters()[table.id.value()];
  OperationState* operation = nullptr;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kWordsAhead < keys.size()) store.prefetch_word(keys[i + kWordsAhead]);
    if (i + kValuesAhead < keys.size()) store.prefetch_value(keys[i + kValuesAhead]);
    const Key key = keys[i];
    // A key of this very call counts as unanswered from the moment it was found not to be here.
    if (!unanswered.contains(table.id, key)) {
      bool here = false;
      switch (kind) {
        case OperationKind::pull:
          here = store.read(key, destination + i * row);
          break;
        case OperationKind::push:
          here = table.store.update(key, [&](std::byte* value) {
            table.rule.apply(value, updates + i * row, store.layout().length);
          });
          break;
        default:
          here =
              table.store.update(key, [&](std::byte* value) { std::memcpy(value, updates + i * row, row); });
          break;
      }
      if (here) {
        ++(kind == OperationKind::pull ? counters.local_pulls : counters.local_pushes);
        continue;
      }
    }
    if (operation == nullptr) {
      operation = &endpoint_.acquire();
      operation->kind = kind;
      operation->table = &table;
      operation->destination = destination;
      operation->handler = &phase_.channel.access();
    }
    operation->items.push_back({key, static_cast<std::uint32_t>(i), &unanswered.add(table.id, key)});
    if (updates != nullptr)
      operation->payload.insert(operation->payload.end(), updates + i * row, updates + (i + 1) * row);
  }
  return operation == nullptr ? Operation() : submit(*operation);
}

Operation Worker::begin_localize(TableState& table, std::span<const Key> keys) {
  constexpr std::size_t kWordsAhead = 16;
  wait_for_room();
  OperationState* operation = nullptr;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kWordsAhead < keys.size()) table.store.prefetch_word(keys[i + kWordsAhead]);
    if (table.store.word(keys[i]).role() == Role::owner) continue;
    if (operation == nullptr) {
      operation = &endpoint_.acquire();
      operation->kind = OperationKind::localize;
      operation->table = &table;
      operation->handler = &phase_.channel.relocation();
    }
    operation->items.push_back({keys[i], static_cast<std::uint32_t>(i), nullptr});
  }
  return operation == nullptr ? Operation() : submit(*operation);
}

Operation Worker::submit(OperationState& operation) {
  operation.remaining.store(static_cast<std::uint32_t>(operation.items.size()), std::memory_order_relaxed);
  endpoint_.opened(operation);
  Operation handle(*this, operation);
  phase_.engine.submit(operation);
  return handle;
}

void Worker::wait_for_room() {
  const auto room = [this] {
    return endpoint_.open() < phase_.options.max_outstanding_operations &&
           endpoint_.open_bytes() < phase_.options.max_outstanding_bytes;
  };
  if (!room()) [[unlikely]] {
    wait_until([&] { return room() || endpoint_.open() == 0; }, "room for a further operation");
  }
}

void Worker::finish(OperationState& operation) {
  if (!operation.done()) {
    wait_until([&] { return operation.done(); },
               operation.kind == OperationKind::localize ? "a localize" : "an answer");
  }
}

void Worker::abandon(OperationState& operation) noexcept {
  if (!operation.done() && operation.destination != nullptr) {
    if (in_user_code_) {
      // Waiting for the engine here could wait for ever: it may be waiting for the latch that is held.
      phase_.logger.error("an unfinished pull was destroyed by a function that runs under a key's latch");
      std::terminate();
    }
    phase_.engine.exclusively([&] { operation.destination = nullptr; });
  }
  endpoint_.release(operation);
}

void Operation::finish() {
  worker_->finish(*state_);
  worker_->abandon(*state_);
  state_ = nullptr;
}

void Operation::release() noexcept {
  worker_->abandon(*state_);
  state_ = nullptr;
}

// --- waiting ---

template <class Done>
void Worker::wait_until(Done&& done, std::string_view what) {
  if (in_user_code_) throw UsageError("the server was called from a function that runs under a key's latch");
  const Failure& failure = phase_.channel.failure();
  StallWatch watch(phase_.options.stall_report);
  bool stalled = false;
  for (;;) {
    stalled = false;
    phase_.engine.wait(endpoint_.bell(), [&] {
      if (done() || failure.raised() || stalled) return true;
      stalled = watch.due();
      return stalled;
    });
    if (done()) return;
    failure.check();
    phase_.logger.warning(
        "worker {} on rank {} has waited for {} s for {}: {} operations with {} keys are unanswered", index(),
        phase_.rank.value(), phase_.options.stall_report.count(), what, endpoint_.open(),
        endpoint_.unanswered().total());
    watch.restart();
  }
}

void Worker::wait_all() {
  wait_until([this] { return endpoint_.open() == 0; }, "all its operations");
}

const Bytes& Worker::collective(Bytes contribution, std::string_view what) {
  wait_all();
  phase_.channel.failure().check();
  const std::uint64_t round = phase_.group.contribute(endpoint_.local_index(), std::move(contribution));
  wait_until([&] { return phase_.group.completed(round); }, what);
  return phase_.group.result();
}

void Worker::barrier() {
  collective(make_contribution({}, {}), "the other workers at a barrier");
}

template <class T>
void Worker::reduce_elements(ReductionHeader::Kind kind, std::span<T> values, Reduce reduce) {
  ReductionHeader header;
  header.kind = kind;
  header.reduce = reduce;
  header.elements = values.size();
  const Bytes& result =
      collective(make_contribution(header, std::as_bytes(values)), "the other workers in all_reduce");
  std::ranges::copy(contribution_elements(result), std::as_writable_bytes(values).begin());
}

void Worker::all_reduce(std::span<double> values, Reduce reduce) {
  reduce_elements(ReductionHeader::Kind::reduce_double, values, reduce);
}

void Worker::all_reduce(std::span<std::int64_t> values, Reduce reduce) {
  reduce_elements(ReductionHeader::Kind::reduce_int64, values, reduce);
}

void Worker::broadcast(std::span<std::byte> bytes, std::size_t root) {
  if (root >= count()) {
    throw UsageError(fmt::format("broadcast from worker {} of {}", root, count()));
  }
  ReductionHeader header;
  header.kind = ReductionHeader::Kind::broadcast;
  header.root = root;
  header.elements = bytes.size();
  const bool sends = index() == root;
  const Bytes& result = collective(make_contribution(header, sends ? bytes : std::span<std::byte>()),
                                   "the other workers in broadcast");
  std::ranges::copy(contribution_elements(result), bytes.begin());
}

}  // namespace lapse
