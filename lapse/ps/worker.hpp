// A thread's access to the tables of a server.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/worker_endpoint.hpp"
#include "lapse/ps/argument_checks.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/local_access.hpp"
#include "lapse/ps/operation.hpp"
#include "lapse/ps/phase.hpp"
#include "lapse/ps/reduction.hpp"
#include "lapse/ps/table.hpp"

namespace lapse {

// Given to each function that ParameterServer::run_workers starts; used by that thread alone, until it
// returns.
//
// Keys that are on this rank are read and written in its memory; everything else becomes an asynchronous
// operation. Per key, a worker's operations take effect in the order of its calls, synchronous or not,
// wherever the key is and while it moves (I3, I4). Different keys are not ordered against each other.
//
// Every call checks its arguments before anything is applied: KeyOutOfRange, LengthMismatch, UsageError for a
// table of another server. A call that waits, or that must wait because too much is under way, throws
// PeerFailed when some rank has failed.
class Worker {
 public:
  Worker(const Phase& phase, WorkerEndpoint& endpoint)
      : phase_(phase), endpoint_(endpoint), arguments_(phase.rank) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Among the workers of all ranks: 0 to count() - 1, rank by rank.
  std::size_t index() const { return phase_.first_worker + endpoint_.local_index(); }
  std::size_t count() const { return phase_.workers; }
  // Among the workers of this rank.
  std::size_t local_index() const { return endpoint_.local_index(); }
  std::size_t local_count() const { return phase_.local_workers; }
  Rank rank() const { return phase_.rank; }
  std::int32_t ranks() const { return phase_.ranks; }

  // --- many keys: values are rows of table.length(key) elements, in the order of the keys; keys may repeat
  // ---
  //
  // A key of a sparse table that does not exist yet has its initial value: pull gives it and makes nothing;
  // push, set, call and lease make the key.

  // Reads; `values` must live until the operation is finished or destroyed.
  template <Element T>
  [[nodiscard]] Operation pull(const Table<T>& table, std::span<const Key> keys,
                               std::type_identity_t<std::span<T>> values) {
    check(table, keys, "values", values.size());
    return begin(*table.state_, keys,
                 {.operation = {.kind = OperationKind::pull},
                  .destination = reinterpret_cast<std::byte*>(values.data())});
  }
  // Applies the table's update rule, key by key in the order given. Keys and updates have been consumed when
  // the call returns. `scale` multiplies the learning rate of the rule (add: the updates); UsageError for
  // rules without one.
  template <Element T>
  Operation push(const Table<T>& table, std::span<const Key> keys,
                 std::type_identity_t<std::span<const T>> updates, float scale = 1.0F) {
    check(table, keys, "updates", updates.size());
    arguments_.scale(*table.state_, scale);
    return begin(*table.state_, keys,
                 {.operation = {.kind = OperationKind::push, .scale = scale},
                  .updates = reinterpret_cast<const std::byte*>(updates.data())});
  }
  // Replaces the values; the state of the update rule starts anew.
  template <Element T>
  Operation set(const Table<T>& table, std::span<const Key> keys,
                std::type_identity_t<std::span<const T>> values) {
    check(table, keys, "values", values.size());
    return begin(*table.state_, keys,
                 {.operation = {.kind = OperationKind::set},
                  .updates = reinterpret_cast<const std::byte*>(values.data())});
  }
  // Runs the function on each key's value, at its owner, alone with it; one argument and one result for each
  // key (none for Nothing). `results` must live until the operation is finished or destroyed. What the
  // function throws ends as UserCodeFailed in wait, or at once when all keys are here.
  template <Element T, class Argument, class Result>
  Operation call(const Table<T>& table, const Function<T, Argument, Result>& function,
                 std::span<const Key> keys, std::type_identity_t<std::span<const Argument>> arguments = {},
                 std::type_identity_t<std::span<Result>> results = {}) {
    check_function(function.server_);
    check_call(table.server_);
    arguments_.keys(*table.state_, keys);
    arguments_.lengths(*table.state_, keys);
    arguments_.count(*table.state_, "arguments", arguments.size(),
                     bytes_of<Argument>() == 0 ? 0 : keys.size());
    arguments_.count(*table.state_, "results", results.size(), bytes_of<Result>() == 0 ? 0 : keys.size());
    return begin(*table.state_, keys,
                 {.operation = {.kind = OperationKind::call, .function = function.function_},
                  .updates = reinterpret_cast<const std::byte*>(arguments.data()),
                  .destination = reinterpret_cast<std::byte*>(results.data())});
  }
  // Brings the keys to this rank. Finished when each has been here once; another rank may have asked for it
  // since.
  template <Element T>
  Operation localize(const Table<T>& table, std::span<const Key> keys) {
    check_call(table.server_, Allowed::under_lease);
    arguments_.keys(*table.state_, keys);
    arguments_.lengths(*table.state_, keys);
    return begin_localize(*table.state_, keys);
  }

  // --- one key: the same, with a short way to memory ---

  template <Element T>
  [[nodiscard]] Operation pull(const Table<T>& table, Key key, std::type_identity_t<std::span<T>> value) {
    if (may_touch_memory(table, key, value.size()) &&
        table.state_->store().read(key, reinterpret_cast<std::byte*>(value.data()), value.size_bytes()))
        [[likely]] {
      ++counters(table).local_pulls;
      return {};
    }
    return pull(table, std::span<const Key>(&key, 1), value);
  }
  template <Element T>
  Operation push(const Table<T>& table, Key key, std::type_identity_t<std::span<const T>> update,
                 float scale = 1.0F) {
    if (may_touch_memory(table, key, update.size()) && apply(table, key, update, scale)) [[likely]] {
      ++counters(table).local_pushes;
      return {};
    }
    return push(table, std::span<const Key>(&key, 1), update, scale);
  }
  template <Element T>
  Operation set(const Table<T>& table, Key key, std::type_identity_t<std::span<const T>> value) {
    return set(table, std::span<const Key>(&key, 1), value);
  }
  template <Element T>
  Operation localize(const Table<T>& table, Key key) {
    return localize(table, std::span<const Key>(&key, 1));
  }

  // --- only if here: never leaves the rank ---

  // False, and nothing is read, when the key is elsewhere or this worker has an unanswered operation on it.
  // Throws PeerFailed instead of false when some rank has failed, so that trying again and again comes to an
  // end.
  template <Element T>
  bool pull_if_local(const Table<T>& table, Key key, std::type_identity_t<std::span<T>> value) {
    check(table, std::span<const Key>(&key, 1), "values", value.size(), Allowed::under_lease);
    if (busy_ == Busy::lease)
      return pull_leased(*table.state_, key, reinterpret_cast<std::byte*>(value.data()));
    if (endpoint_.unanswered().contains(table.id(), key)) return not_here();
    if (!table.state_->store().read(key, reinterpret_cast<std::byte*>(value.data())) &&
        !read_missing(*table.state_, key, reinterpret_cast<std::byte*>(value.data())))
      return not_here();
    ++counters(table).local_pulls;
    return true;
  }
  // Calls f(std::span<T>) on the value in place, alone with it. f must not block and must not call the
  // server. False, and no call, as above, and for a key of a sparse table that does not exist yet. Counts as
  // one push. When f throws, what it wrote stays.
  template <Element T, class F>
  bool update_if_local(const Table<T>& table, Key key, F&& f) {
    const std::size_t length = table.length(checked(table, key));
    if (!may_touch_memory(table, key, length)) [[unlikely]] {
      check(table, std::span<const Key>(&key, 1), "values", length);
      if (endpoint_.unanswered().contains(table.id(), key)) return not_here();
    }
    const BusyGuard guard(busy_, Busy::user_code);
    const bool here = table.state_->store().update(key, [&](std::byte* value) {
      std::forward<F>(f)(std::span<T>(reinterpret_cast<T*>(value), length));
    });
    if (here) ++counters(table).local_pushes;
    return here || not_here();
  }
  // Calls f(key, std::span<const T>) with a copy of the value of every key that is here and not leased. Of
  // the keys that ranks share with each other, each rank visits those that it serves: over all ranks every
  // key is visited once, unless it is leased, comes or goes meanwhile. f may call the server. Waits first for
  // this worker's own operations.
  template <Element T, class F>
  void for_each_local(const Table<T>& table, F&& f) {
    check_call(table.server_);
    wait_all();
    std::vector<T> value;
    table.state_->store().for_each_here([&](Key key) {
      if (!table.state_->serves(key)) return;
      value.resize(table.length(key));
      if (table.state_->store().read(key, reinterpret_cast<std::byte*>(value.data())))
        f(key, std::span<const T>(value));
    });
  }

  // --- leases ---

  // Brings the keys here and gives them to this worker alone, as plain memory, until the lease is released or
  // destroyed: for algorithms that work on blocks of keys at the speed of arrays. Waits until everybody else
  // is done with them. Keys may repeat; a table may be named once. One lease at a time: UsageError. Throws
  // UserCodeFailed or OutOfMemory when a key of a sparse table cannot be made; then nothing is held.
  template <Element T>
  [[nodiscard]] Lease lease(const Table<T>& table, std::span<const Key> keys) {
    return lease({LeaseKeys(table, keys)});
  }
  [[nodiscard]] Lease lease(std::initializer_list<LeaseKeys> parts) {
    return lease(std::span<const LeaseKeys>(parts.begin(), parts.size()));
  }
  [[nodiscard]] Lease lease(std::span<const LeaseKeys> parts);

  // --- together ---

  // Waits until all operations of this worker are answered. Throws UserCodeFailed when one failed whose
  // handle was dropped.
  void wait_all();
  // Collective over all workers of all ranks. wait_all, then waits for everybody.
  void barrier();
  // Collective over all workers. Element by element; everybody gets the same result, bit for bit.
  void all_reduce(std::span<double> values, Reduce reduce = Reduce::sum);
  void all_reduce(std::span<std::int64_t> values, Reduce reduce = Reduce::sum);
  // Collective over all workers. Everybody gets the bytes of worker `root`; the same number of bytes
  // everywhere.
  void broadcast(std::span<std::byte> bytes, std::size_t root = 0);

 private:
  friend class Operation;
  friend class Lease;
  friend class LeaseTaker;

  // Why this worker cannot be called now.
  enum class Busy : std::uint8_t {
    no,
    user_code,  // code of the application runs under a latch, on this thread
    engine,     // this thread drives the engine, which may run such code
    lease,      // the worker holds keys that others may wait for
  };
  struct BusyGuard {
    BusyGuard(Busy& busy, Busy now) : busy_(busy), before_(std::exchange(busy, now)) {}
    ~BusyGuard() { busy_ = before_; }
    Busy& busy_;
    Busy before_;
  };
  enum class Allowed : std::uint8_t { when_free, under_lease };

  bool not_here() const {
    phase_.protocol.failure().check();
    return false;
  }

  template <Element T>
  TableCounters& counters(const Table<T>& table) {
    return endpoint_.counters()[table.state_->id().value()];
  }

  // The arguments are right and nothing is unanswered: memory may be tried at once.
  template <Element T>
  bool may_touch_memory(const Table<T>& table, Key key, std::size_t elements) const {
    if (!((table.server_ == phase_.server) & (key.value() <= table.last_key_) &
          (endpoint_.unanswered().total() == 0) & (busy_ == Busy::no))) [[unlikely]]
      return false;
    return elements == (table.length_ != 0 ? table.length_ : table.length(key));
  }

  template <Element T>
  bool apply(const Table<T>& table, Key key, std::span<const T> update, float scale) {
    const UpdateKernel& rule = table.state_->definition().rule;
    if (rule.kind() == UpdateRuleKind::add && scale == 1.0F) [[likely]] {
      return table.state_->store().update(key, [&](std::byte* value) {
        add_elements(reinterpret_cast<T*>(value), update.data(), update.size());
      });
    }
    // Both want more care than this way gives.
    const bool scale_fits = scale == 1.0F || (rule.accepts_scale() && std::isfinite(scale));
    if (rule.kind() == UpdateRuleKind::custom || !scale_fits) return false;
    return table.state_->store().update(key, [&](std::byte* value) {
      rule.apply(value, reinterpret_cast<const std::byte*>(update.data()), update.size(), scale);
    });
  }

  // Throws KeyOutOfRange.
  template <Element T>
  Key checked(const Table<T>& table, Key key) const {
    if (key.value() > table.last_key_) [[unlikely]]
      arguments_.keys(*table.state_, std::span<const Key>(&key, 1));
    return key;
  }
  template <Element T>
  void check(const Table<T>& table, std::span<const Key> keys, std::string_view what, std::size_t elements,
             Allowed allowed = Allowed::when_free) const {
    check_call(table.server_, allowed);
    arguments_.keys(*table.state_, keys);
    arguments_.elements(*table.state_, keys, what, elements);
  }
  void check_call(const void* server, Allowed allowed = Allowed::when_free) const;
  void check_function(const void* server) const;

  Operation begin(TableShard& table, std::span<const Key> keys, const AccessRequest& request);
  // The initial value of a key of a sparse table that nobody has pushed to, if its home is here. Throws
  // UserCodeFailed.
  bool read_missing(const TableShard& table, Key key, std::byte* to);
  Operation begin_localize(TableShard& table, std::span<const Key> keys);
  void submit(Submission& submission);
  // Waits while as much is under way as the options allow.
  void wait_for_room();
  void finish(OperationState& operation);
  void abandon(OperationState& operation) noexcept;
  // Drives the engine until done() or a failure, which it throws; reports a stall that concerns `what`.
  template <class Done>
  void wait_until(Done&& done, std::string_view what,
                  ProgressEngine::WaitFor for_whom = ProgressEngine::WaitFor::answers);
  const Bytes& collective(Bytes contribution, std::string_view what);
  template <class T>
  void reduce_elements(ReductionHeader::Kind kind, std::span<T> values, Reduce reduce);

  bool pull_leased(const TableShard& table, Key key, std::byte* to);
  void end_lease(Lease& lease);
  void abandon_lease(Lease& lease) noexcept;

  const Phase& phase_;
  WorkerEndpoint& endpoint_;
  const ArgumentChecks arguments_;
  Busy busy_ = Busy::no;
  Lease* lease_ = nullptr;  // the one that is held
};

}  // namespace lapse
