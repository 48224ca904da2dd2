#include "lapse/ps/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "lapse/core/error.hpp"
#include "lapse/protocol/user_code.hpp"
#include "lapse/ps/lease_taker.hpp"
#include "lapse/ps/local_access.hpp"
#include "lapse/ps/stall_watch.hpp"

namespace lapse {

Worker::~Worker() {
  // A lease that was carried out of the worker's function ends with it.
  if (lease_ != nullptr) abandon_lease(*lease_);
  endpoint_.orphan_handles();
}

// --- checks ---

void Worker::check_call(const void* server, Allowed allowed) const {
  if (server != phase_.server) {
    throw UsageError(
        fmt::format("a worker of rank {} was given a table of another server", phase_.rank.value()));
  }
  switch (busy_) {
    case Busy::no:
      break;
    case Busy::user_code:
      throw UsageError("the server was called from a function that runs under a key's latch");
    case Busy::engine:
      throw UsageError("the server was called from code of the application that it runs itself");
    case Busy::lease:
      if (allowed == Allowed::under_lease) break;
      throw UsageError(
          fmt::format("worker {} on rank {} called the server while it holds a lease: only release, "
                      "pull_if_local and localize "
                      "are possible",
                      index(), phase_.rank.value()));
  }
}

void Worker::check_function(const void* server) const {
  if (server != phase_.server) {
    throw UsageError(
        fmt::format("a worker of rank {} was given a function of another server", phase_.rank.value()));
  }
}

// --- operations ---

bool Worker::read_missing(const TableState& table, Key key, std::byte* to) {
  if (!table.store.is_sparse()) return false;
  const BusyGuard guard(busy_, Busy::user_code);
  return run_user_code(table.name, key, phase_.rank, [&] { return table.read_implicit(key, to); });
}

Operation Worker::begin(TableState& table, std::span<const Key> keys, const AccessRequest& request) {
  wait_for_room();
  const bool call = request.kind == OperationKind::call;
  const bool pull = request.kind == OperationKind::pull;
  const ValueSizes& sizes = table.store.sizes();
  const std::size_t element = element_bytes(sizes.layout().type);
  // A row of values counts in elements; arguments and results count by themselves.
  const std::size_t update_unit = call ? request.function->argument_bytes : element;
  const std::size_t row_unit = call ? request.function->result_bytes : element;
  UnansweredTable& unanswered = endpoint_.unanswered();
  TableCounters& counters = endpoint_.counters()[table.id.value()];
  OperationState* operation = nullptr;
  std::optional<UserCodeFailed> failed;
  std::array<Store::Word*, Store::kMaxAtOnce> words;
  const LocalAccess here(table, request, phase_.rank);
  std::optional<BusyGuard> guard;
  if (request.runs_user_code(table)) guard.emplace(busy_, Busy::user_code);
  const std::size_t first = unanswered.total() == 0 ? here.run(keys) : 0;
  (pull ? counters.local_pulls : counters.local_pushes) += first;
  std::size_t offset = first * sizes.layout().length;
  for (std::size_t i = first; i < keys.size(); ++i) {
    const std::size_t in_group = (i - first) % Store::kMaxAtOnce;
    if (in_group == 0)
      table.store.find(keys.subspan(i, std::min(Store::kMaxAtOnce, keys.size() - i)), words.data());
    const Key key = keys[i];
    const std::size_t at = std::exchange(offset, offset + (call ? 1 : sizes.length(key)));
    const std::size_t update_bytes = pull ? 0 : (offset - at) * update_unit;
    const std::byte* update = request.updates == nullptr ? nullptr : request.updates + at * update_unit;
    // A key of this very call counts as unanswered from the moment it was found not to be here.
    const Store::Word* word = words[in_group];
    if ((word == nullptr || SlotWord(word->load(std::memory_order_relaxed)).role() == Role::owner) &&
        !unanswered.contains(table.id, key)) {
      try {
        std::byte* to = request.destination == nullptr ? nullptr : request.destination + at * row_unit;
        if (here.try_key(key, words[in_group], update, to)) {
          ++(pull ? counters.local_pulls : counters.local_pushes);
          continue;
        }
      } catch (const UserCodeFailed& error) {
        if (!failed) failed = error;
        continue;
      }
    }
    if (operation == nullptr) {
      operation = &endpoint_.acquire();
      operation->kind = request.kind;
      operation->scale = request.scale;
      operation->table = &table;
      operation->function = request.function;
      operation->destination = request.destination;
      operation->row_unit = row_unit;
      operation->payload_unit = std::max<std::size_t>(1, update_unit);
      operation->handler = &phase_.channel.access();
    }
    const std::size_t payload_offset = operation->payload.size() / operation->payload_unit;
    operation->items.push_back({key, &unanswered.add(table.id, key), static_cast<std::uint32_t>(at),
                                static_cast<std::uint32_t>(payload_offset), false});
    if (update_bytes != 0) operation->payload.insert(operation->payload.end(), update, update + update_bytes);
  }
  guard.reset();
  Operation handle;
  if (operation != nullptr) {
    // The caller learns of all failures in one place.
    if (failed) operation->failure = std::make_unique<UserCodeFailed>(*std::exchange(failed, std::nullopt));
    operation->remaining.store(static_cast<std::uint32_t>(operation->items.size()),
                               std::memory_order_relaxed);
    endpoint_.opened(*operation);
    handle = Operation(*this, *operation);
    submit(*operation);
  }
  if (failed) throw UserCodeFailed(*failed);
  return handle;
}

Operation Worker::begin_localize(TableState& table, std::span<const Key> keys) {
  constexpr std::size_t kFarAhead = 24;
  constexpr std::size_t kWordsAhead = 16;
  // A holder must not wait: what it asks for comes on top.
  if (busy_ != Busy::lease) wait_for_room();
  OperationState* operation = nullptr;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (table.store.is_sparse() && i + kFarAhead < keys.size()) table.store.prefetch_far(keys[i + kFarAhead]);
    if (i + kWordsAhead < keys.size()) table.store.prefetch_word(keys[i + kWordsAhead]);
    if (table.store.word(keys[i]).role() == Role::owner) continue;
    if (operation == nullptr) {
      operation = &endpoint_.acquire();
      operation->kind = OperationKind::localize;
      operation->table = &table;
      operation->handler = &phase_.channel.localize_requests();
    }
    operation->items.push_back({keys[i], nullptr, 0, 0, false});
  }
  if (operation == nullptr) return {};
  operation->remaining.store(static_cast<std::uint32_t>(operation->items.size()), std::memory_order_relaxed);
  endpoint_.opened(*operation);
  Operation handle(*this, *operation);
  submit(*operation);
  return handle;
}

void Worker::submit(Submission& submission) {
  const BusyGuard guard(busy_, Busy::engine);
  phase_.engine.submit(submission);
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
    if (busy_ == Busy::user_code || busy_ == Busy::engine) {
      // Waiting for the engine here could wait for ever: it may be waiting for the latch that is held.
      phase_.logger.error("an unfinished pull was destroyed by a function that runs under a key's latch");
      std::terminate();
    }
    const BusyGuard guard(busy_, Busy::engine);
    phase_.engine.exclusively([&] { operation.destination = nullptr; });
  }
  endpoint_.release(operation);
}

void Operation::finish() {
  worker_->finish(*state_);
  const std::unique_ptr<UserCodeFailed> failure = std::move(state_->failure);
  worker_->abandon(*state_);
  state_ = nullptr;
  if (failure) throw UserCodeFailed(*failure);
}

void Operation::release() noexcept {
  worker_->abandon(*state_);
  state_ = nullptr;
}

// --- leases ---

Lease Worker::lease(std::span<const LeaseKeys> parts) {
  check_call(phase_.server);
  phase_.channel.failure().check();
  LeaseTaker taker(*this);
  taker.begin(parts);
  while (!taker.advance()) wait_until([&] { return taker.may_advance(); }, "a lease");
  return taker.take();
}

bool Worker::pull_leased(const TableState& table, Key key, std::byte* to) {
  LeaseRequest& request = endpoint_.lease_request();
  const auto& items = request.items;
  const auto found =
      std::ranges::lower_bound(items, std::pair(table.id.value(), key.value()), {}, &LeaseRequest::order);
  if (found != items.end() && found->table == &table && found->key == key) {
    std::memcpy(to, request.content(*found), table.value_bytes(key));
  } else if (endpoint_.unanswered().contains(table.id, key) ||
             !(table.store.read(key, to) || read_missing(table, key, to))) {
    return not_here();
  }
  ++endpoint_.counters()[table.id.value()].local_pulls;
  return true;
}

void Worker::end_lease(Lease& lease) {
  LeaseTaker taker(*this);
  taker.begin_release(lease);
  if (!taker.released()) wait_until([&] { return taker.released(); }, "the end of its lease");
}

void Worker::abandon_lease(Lease& lease) noexcept {
  try {
    end_lease(lease);
  } catch (const Error&) {
    // Some rank has failed: nobody waits for the keys any more.
  }
}

// --- waiting ---

template <class Done>
void Worker::wait_until(Done&& done, std::string_view what, ProgressEngine::WaitFor for_whom) {
  check_call(phase_.server);
  const Failure& failure = phase_.channel.failure();
  StallWatch watch(phase_.options.stall_report);
  bool stalled = false;
  for (;;) {
    stalled = false;
    const BusyGuard guard(busy_, Busy::engine);
    const auto ended = [&] {
      if (done() || failure.raised() || stalled) return true;
      stalled = watch.due();
      return stalled;
    };
    phase_.engine.wait(endpoint_.bell(), ended, for_whom);
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
  if (const std::unique_ptr<UserCodeFailed> failure = endpoint_.take_failure())
    throw UserCodeFailed(*failure);
}

const Bytes& Worker::collective(Bytes contribution, std::string_view what) {
  wait_all();
  phase_.channel.failure().check();
  std::uint64_t round = 0;
  {
    const BusyGuard guard(busy_, Busy::engine);
    round = phase_.group.contribute(endpoint_.local_index(), std::move(contribution));
  }
  wait_until([&] { return phase_.group.completed(round); }, what, ProgressEngine::WaitFor::workers);
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
