// A thread's access to the tables of a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lapse/core/types.hpp"
#include "lapse/protocol/worker_endpoint.hpp"
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
  Worker(const Phase& phase, WorkerEndpoint& endpoint) : phase_(phase), endpoint_(endpoint) {}
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

  // --- many keys: values are rows of table.length() elements, in the order of the keys; keys may repeat ---

  // Reads; `values` must live until the operation is finished or destroyed.
  template <Element T>
  [[nodiscard]] Operation pull(const Table<T>& table, std::span<const Key> keys,
                               std::type_identity_t<std::span<T>> values) {
    check(table, keys, "values", values.size());
    return begin(OperationKind::pull, *table.state_, keys, nullptr,
                 reinterpret_cast<std::byte*>(values.data()));
  }
  // Applies the table's update rule. Keys and updates have been consumed when the call returns.
  template <Element T>
  Operation push(const Table<T>& table, std::span<const Key> keys,
                 std::type_identity_t<std::span<const T>> updates) {
    check(table, keys, "updates", updates.size());
    return begin(OperationKind::push, *table.state_, keys, reinterpret_cast<const std::byte*>(updates.data()),
                 nullptr);
  }
  // Replaces the values.
  template <Element T>
  Operation set(const Table<T>& table, std::span<const Key> keys,
                std::type_identity_t<std::span<const T>> values) {
    check(table, keys, "values", values.size());
    return begin(OperationKind::set, *table.state_, keys, reinterpret_cast<const std::byte*>(values.data()),
                 nullptr);
  }
  // Brings the keys to this rank. Finished when each has been here once; another rank may have asked for it
  // since.
  template <Element T>
  Operation localize(const Table<T>& table, std::span<const Key> keys) {
    check(table, keys, "values", keys.size() * table.length_);
    return begin_localize(*table.state_, keys);
  }

  // --- one key: the same, with a short way to memory ---

  template <Element T>
  [[nodiscard]] Operation pull(const Table<T>& table, Key key, std::type_identity_t<std::span<T>> value) {
    if (may_touch_memory(table, key, value.size()) &&
        table.state_->store.read(key, reinterpret_cast<std::byte*>(value.data()))) [[likely]] {
      ++counters(table).local_pulls;
      return {};
    }
    return pull(table, std::span<const Key>(&key, 1), value);
  }
  template <Element T>
  Operation push(const Table<T>& table, Key key, std::type_identity_t<std::span<const T>> update) {
    if (may_touch_memory(table, key, update.size()) && apply(table, key, update)) [[likely]] {
      ++counters(table).local_pushes;
      return {};
    }
    return push(table, std::span<const Key>(&key, 1), update);
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
    check(table, std::span<const Key>(&key, 1), "values", value.size());
    if (endpoint_.unanswered().contains(table.id(), key)) return not_here();
    if (!table.state_->store.read(key, reinterpret_cast<std::byte*>(value.data()))) return not_here();
    ++counters(table).local_pulls;
    return true;
  }
  // Calls f(std::span<T>) on the value in place, alone with it. f must not block and must not call the
  // server. False, and no call, as above. Counts as one push. When f throws, what it wrote stays.
  template <Element T, class F>
  bool update_if_local(const Table<T>& table, Key key, F&& f) {
    if (!may_touch_memory(table, key, table.length_)) [[unlikely]] {
      check(table, std::span<const Key>(&key, 1), "values", table.length_);
      if (endpoint_.unanswered().contains(table.id(), key)) return not_here();
    }
    const InUserCode guard(in_user_code_);
    const bool here = table.state_->store.update(key, [&](std::byte* value) {
      std::forward<F>(f)(std::span<T>(reinterpret_cast<T*>(value), table.length_));
    });
    if (here) ++counters(table).local_pushes;
    return here || not_here();
  }

  // --- together ---

  // Waits until all operations of this worker are answered.
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

  struct InUserCode {
    explicit InUserCode(bool& flag) : flag_(flag) { flag_ = true; }
    ~InUserCode() { flag_ = false; }
    bool& flag_;
  };

  bool not_here() const {
    phase_.channel.failure().check();
    return false;
  }

  template <Element T>
  TableCounters& counters(const Table<T>& table) {
    return endpoint_.counters()[table.state_->id.value()];
  }

  // The arguments are right and nothing is unanswered: memory may be tried at once.
  template <Element T>
  bool may_touch_memory(const Table<T>& table, Key key, std::size_t elements) const {
    return (table.server_ == phase_.server) & (key.value() < table.keys_) & (elements == table.length_) &
           (endpoint_.unanswered().total() == 0) & !in_user_code_;
  }

  template <Element T>
  static bool apply(const Table<T>& table, Key key, std::span<const T> update) {
    const bool add = table.state_->rule.kind() == UpdateRuleKind::add;
    return table.state_->store.update(key, [&](std::byte* value) {
      if (add) {
        add_elements(reinterpret_cast<T*>(value), update.data(), update.size());
      } else {
        std::memcpy(value, update.data(), update.size_bytes());
      }
    });
  }

  template <Element T>
  void check(const Table<T>& table, std::span<const Key> keys, std::string_view what,
             std::size_t elements) const {
    check_call(table.server_);
    check_arguments(*table.state_, keys, what, elements);
  }
  void check_call(const void* server) const;
  void check_arguments(const TableState& table, std::span<const Key> keys, std::string_view what,
                       std::size_t elements) const;

  // `updates` for push and set, `destination` for pull.
  Operation begin(OperationKind kind, TableState& table, std::span<const Key> keys, const std::byte* updates,
                  std::byte* destination);
  Operation begin_localize(TableState& table, std::span<const Key> keys);
  Operation submit(OperationState& operation);
  // Waits while as much is under way as the options allow.
  void wait_for_room();
  void finish(OperationState& operation);
  void abandon(OperationState& operation) noexcept;
  // Drives the engine until done() or a failure, which it throws; reports a stall that concerns `what`.
  template <class Done>
  void wait_until(Done&& done, std::string_view what);
  const Bytes& collective(Bytes contribution, std::string_view what);
  template <class T>
  void reduce_elements(ReductionHeader::Kind kind, std::span<T> values, Reduce reduce);

  const Phase& phase_;
  WorkerEndpoint& endpoint_;
  bool in_user_code_ = false;
};

}  // namespace lapse
