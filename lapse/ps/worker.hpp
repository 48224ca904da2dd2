// Access of one thread to the tables of a server.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/unanswered_count.hpp"
#include "lapse/ps/operation.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/worker_gate.hpp"
#include "lapse/store/slot_access.hpp"

namespace lapse {

class Lease;
class LeaseKeys;
struct ElementCall;
struct RegisteredFunction;
struct Seat;
template <Element T, class Argument, class Result>
class Function;

// The place of a key, as seen from one rank at one moment.
enum class Locality : std::uint8_t {
  local,  // pull_if_local reads it, unless this worker has an unanswered operation on it
  // At another domain, arriving, or leased by another worker: local after a localize, or the release.
  not_local,
  // This domain owns the key, in private memory of the rank that serves it: shared memory was full. It stays
  // there until another domain takes it: localize changes nothing, other calls send a message.
  private_to_neighbour,
};

// Given to each function that ParameterServer::run_workers starts; only that thread uses it, until the
// function returns. Later calls throw UsageError, while the server exists and until eight further workers
// with the same local index have ended. Calls in a child that fork has made throw UsageError, too.
//
// Keys that are on this rank are read and written in its memory; for other keys, a call starts an
// asynchronous operation. Per key, a worker's operations take effect in the order of its calls, synchronous
// or not, wherever the key is and while it moves. Operations on different keys are not ordered.
// docs/adaptive-management.md has a table of what each call does if the domain has a replica of the value.
//
// Every call checks its arguments before anything is applied, and throws KeyOutOfRange, LengthMismatch, or
// UsageError for a table of another server. Every call, also one that only touches memory, throws PeerFailed
// once this rank knows that a rank has failed, and in run_groups GroupFailed once its group has failed.
class LAPSE_EXPORT Worker {
 public:
  explicit Worker(const Seat& seat);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Index among the workers of all ranks (of the group, in run_groups), 0 to count() - 1, rank by rank.
  std::size_t index() const;
  std::size_t count() const;
  // Index among the workers of this rank (of the group).
  std::size_t local_index() const;
  std::size_t local_count() const;
  Rank rank() const;
  std::int32_t ranks() const;

  // Begins the worker's next step, such as a batch. The clock starts at 0 and continues from phase to phase.
  // Intents of a parameter manager depend on it, and accesses to tables with a bound (Consistency). Throws
  // UsageError (also under a lease, if a table has a bound), PeerFailed, GroupFailed.
  void advance_clock();
  Clock current_clock() const;

  // --- many keys: values are rows of table.length(key) elements, by key; keys may repeat ---
  //
  // If a key of a sparse table does not exist, it has its initial value: pull returns that and does not make
  // the key; push, set, call and lease make it. If the key cannot be made, the operation fails with
  // UserCodeFailed (the initial value throws) or OutOfMemory, with table, key and rank; the call's other keys
  // are done.

  // Reads values. `values` must live until the operation is finished or destroyed.
  template <Element T>
  [[nodiscard]] Operation pull(const Table<T>& table, std::span<const Key> keys,
                               std::type_identity_t<std::span<T>> values) {
    return begin_pull(table.handle(), keys, bytes(values), values.size());
  }
  // Applies the table's update rule, key by key in the order given. Does not use `keys` and `updates` after
  // it has returned. `scale` multiplies the learning rate of the rule (add: the updates); throws UsageError
  // if the rule has none. Tables with not_finite or max_push_norm check the updates first and may throw
  // NotFiniteUpdate.
  template <Element T>
  Operation push(const Table<T>& table, std::span<const Key> keys,
                 std::type_identity_t<std::span<const T>> updates, float scale = 1.0F) {
    return begin_push(table.handle(), keys, bytes(updates), updates.size(), scale);
  }
  // Replaces the values and resets the state of the update rule. Throws NotFiniteUpdate like push.
  template <Element T>
  Operation set(const Table<T>& table, std::span<const Key> keys,
                std::type_identity_t<std::span<const T>> values) {
    return begin_set(table.handle(), keys, bytes(values), values.size());
  }
  // Runs the function on each key's value, at its owner, with exclusive access. Takes one argument and one
  // result for each key (none for Nothing). `results` must live until the operation is finished or destroyed.
  // If the function throws, wait throws UserCodeFailed; if all keys are local, the call does.
  template <Element T, class Argument, class Result>
  Operation call(const Table<T>& table, const Function<T, Argument, Result>& function,
                 std::span<const Key> keys, std::type_identity_t<std::span<const Argument>> arguments = {},
                 std::type_identity_t<std::span<Result>> results = {});
  // Moves the keys to this rank, or to memory that it shares with its neighbours (or private memory of one:
  // Locality::private_to_neighbour). Finished when each key was local once; another rank may have localized
  // it since. Fails with UserCodeFailed or OutOfMemory if a key could not be made or stored here.
  template <Element T>
  Operation localize(const Table<T>& table, std::span<const Key> keys) {
    return begin_localize(table.handle(), keys);
  }

  // --- one key: as above, with a fast path to memory ---

  template <Element T>
  [[nodiscard]] Operation pull(const Table<T>& table, Key key, std::type_identity_t<std::span<T>> value) {
    if (read_direct(table.handle(), key, value)) [[likely]]
      return {};
    return pull(table, std::span<const Key>(&key, 1), value);
  }
  template <Element T>
  Operation push(const Table<T>& table, Key key, std::type_identity_t<std::span<const T>> update,
                 float scale = 1.0F) {
    if (push_direct(table.handle(), key, update, scale)) [[likely]]
      return {};
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

  // --- single elements of values: see lapse/ps/elements.hpp, which defines these. Keys: a Key or a span ---
  template <Element T, class Keys>
  [[nodiscard]] Operation pull_elements(const Table<T>& table, const Keys& keys,
                                        std::span<const std::uint32_t> indices,
                                        std::type_identity_t<std::span<T>> values);
  template <Element T, class Keys>
  Operation push_elements(const Table<T>& table, const Keys& keys, std::span<const std::uint32_t> indices,
                          std::type_identity_t<std::span<const T>> updates, float scale = 1.0F);

  // --- only if local: never leaves the rank ---

  // Returns where the key is; it may have moved when the call returns. A loop that waits for a key to become
  // local must pull or push instead at private_to_neighbour.
  template <Element T>
  Locality locality(const Table<T>& table, Key key) {
    return locality_of(table.handle(), key);
  }
  // Returns false and reads nothing if the key is not local or this worker has an unanswered operation on it.
  template <Element T>
  bool pull_if_local(const Table<T>& table, Key key, std::type_identity_t<std::span<T>> value) {
    return read_direct(table.handle(), key, value) ||
           read_if_local(table.handle(), key, bytes(value), value.size());
  }
  // Calls f(std::span<T>) on the value in place, with exclusive access. f must not block and must not call
  // the server. Returns false without calling f if pull_if_local would return false, for a key of a sparse
  // table that does not exist yet, and for a replica whose pushes are merged as gradients. Counts as one
  // push. If f throws, its writes stay.
  template <Element T, class F>
  bool update_if_local(const Table<T>& table, Key key, F&& f) {
    const TableHandle& handle = table.handle();
    if (!gate_.is_open(handle, key) && !admit_update(handle, key)) [[unlikely]]
      return false;
    const std::size_t length = handle.length(key);
    const WorkerGate::BusyGuard guard(gate_, WorkerGate::Busy::user_code);
    const Found found = handle.memory().update(key, [&](std::byte* value) {
      std::forward<F>(f)(std::span<T>(reinterpret_cast<T*>(value), length));
    });
    return count_push(handle, found);
  }
  // Calls f(key, std::span<const T>) with a copy of the value of every key that is local and not leased. If
  // ranks share keys, each visits those that it serves: over all ranks every key is visited once, unless it
  // is leased or moves meanwhile. f may call the server. Waits for this worker's own operations first.
  template <Element T, class F>
  void for_each_local(const Table<T>& table, F&& f) {
    visit_local(table.handle(), [&](Key key, const std::byte* value, std::size_t length) {
      f(key, std::span<const T>(reinterpret_cast<const T*>(value), length));
    });
  }

  // --- leases ---

  // Moves the keys to this rank and gives this worker exclusive access, as plain memory, until the lease is
  // released or destroyed: for algorithms that process blocks of keys at the speed of arrays. Waits until
  // every other worker is done with the keys. Keys may repeat; a table may occur once. Throws UsageError if
  // the worker holds a lease, UserCodeFailed or OutOfMemory if a key of a sparse table cannot be made or a
  // key cannot be stored here; then nothing is held.
  template <Element T>
  [[nodiscard]] Lease lease(const Table<T>& table, std::span<const Key> keys);
  [[nodiscard]] Lease lease(std::initializer_list<LeaseKeys> parts);
  [[nodiscard]] Lease lease(std::span<const LeaseKeys> parts);

  // --- together ---

  // Waits until all operations of this worker are answered. Throws UserCodeFailed or OutOfMemory if an
  // operation failed whose handle was dropped.
  void wait_all();
  // wait_all; then, in tables whose values have replicas, waits until this worker's pushes are part of the
  // main copies, and until its domain's replicas are as new as the main copies were at the time of the call.
  // Not collective. Costs two small messages for each rank of another domain; without such tables none.
  void wait_sync();
  // Collective over the workers of the group (run_groups), else over all workers of all ranks. wait_all, then
  // waits for the other workers. This and the next calls throw CollectiveMismatch, or PeerFailed (GroupFailed
  // in a group), if workers make different calls or a worker has returned.
  void barrier();
  // Collective, like barrier. Afterwards every replica shows every update that a worker made before it; in a
  // group: replicas in the group's domains, and updates of the group. Without groups, also nothing is in
  // flight on any rank; costs no more than a barrier if nothing was, no replica has changed and every rank
  // has workers.
  void sync_barrier();
  // Collective, like barrier. Reduces element by element. Every worker gets the same result, bit for bit.
  void all_reduce(std::span<double> values, Reduce reduce = Reduce::sum);
  void all_reduce(std::span<std::int64_t> values, Reduce reduce = Reduce::sum);
  // Collective, like barrier. Every worker gets the bytes of worker `root`. All spans have equal lengths.
  void broadcast(std::span<std::byte> bytes, std::size_t root = 0);

  // For interfaces to other languages: a function without its types, and its bytes for each key.
  Operation call(const TableHandle& table, const RegisteredFunction& function, const void* function_server,
                 std::span<const Key> keys, const std::byte* arguments, std::byte* results) {
    return begin_call(table, keys, function, function_server, {arguments, keys.size(), keys.size()},
                      {results, keys.size(), keys.size()});
  }

  // Internal; not part of the interface.
  static constexpr std::uint64_t kReadsPerSample = 256;  // reads of replicas for each one that is sampled
  WorkerCore& core() { return *core_; }
  // Every later call throws. Does nothing if the worker has ended.
  void end() noexcept;

 private:
  // Rows of arguments or results: the expected and the given number.
  template <class Byte>
  struct Rows {
    Byte* data;
    std::size_t expected;
    std::size_t given;
  };

  template <class T>
  static auto* bytes(std::span<T> elements) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return reinterpret_cast<Byte*>(elements.data());
  }

  // --- one key in memory: returns false and changes nothing if that is not possible or not simple ---

  template <Element T>
  bool read_direct(const TableHandle& table, Key key, std::span<T> value) {
    if (!gate_.is_open(table, key) || value.size() != table.length(key)) [[unlikely]]
      return false;
    const Found found = table.memory().read(key, bytes(value), value.size_bytes());
    if (!found) [[unlikely]]
      return false;
    TableCounters& counters = gate_.counters(table);
    ++counters.local_pulls;
    if (found.is_copy() && ++counters.copy_pulls % kReadsPerSample == 0) [[unlikely]]
      sample_read(table, key);
    return true;
  }
  template <Element T>
  bool push_direct(const TableHandle& table, Key key, std::span<const T> update, float scale) {
    if (!gate_.is_open(table, key) || update.size() != table.length(key)) [[unlikely]]
      return false;
    return count_push(table, apply(table, key, update, scale));
  }
  bool count_push(const TableHandle& table, const Found& found) {
    if (!found) [[unlikely]]
      return false;
    TableCounters& counters = gate_.counters(table);
    ++counters.local_pushes;
    if (found.is_copy()) [[unlikely]]
      ++counters.copy_pushes;
    return true;
  }
  template <Element T>
  static Found apply(const TableHandle& table, Key key, std::span<const T> update, float scale) {
    const TableHandle::PushRule& rule = table.push_rule();
    if (rule.is_add && scale == 1.0F) [[likely]] {
      return table.memory().update(key, [&](std::byte* value) {
        add_elements(reinterpret_cast<T*>(value), update.data(), update.size());
      });
    }
    // Custom rules, limits of pushes, and scales that may be refused are left to the core.
    const bool scale_fits = scale == 1.0F || (rule.accepts_scale && std::isfinite(scale));
    if (!rule.is_direct || !scale_fits) return {};
    return table.memory().update(
        key, [&](std::byte* value) { rule.apply(value, bytes(update), update.size(), scale); });
  }

  // --- everything else: the core ---

  void sample_read(const TableHandle& table, Key key);
  Operation begin_pull(const TableHandle& table, std::span<const Key> keys, std::byte* values,
                       std::size_t elements);
  Operation begin_push(const TableHandle& table, std::span<const Key> keys, const std::byte* updates,
                       std::size_t elements, float scale);
  Operation begin_set(const TableHandle& table, std::span<const Key> keys, const std::byte* values,
                      std::size_t elements);
  Operation begin_call(const TableHandle& table, std::span<const Key> keys,
                       const RegisteredFunction& function, const void* function_server,
                       Rows<const std::byte> arguments, Rows<std::byte> results);
  Operation begin_elements(const TableHandle& table, const ElementCall& call);
  Operation begin_localize(const TableHandle& table, std::span<const Key> keys);
  Locality locality_of(const TableHandle& table, Key key);
  bool read_if_local(const TableHandle& table, Key key, std::byte* to, std::size_t elements);
  // Returns false if an unanswered operation of this worker must precede the update.
  bool admit_update(const TableHandle& table, Key key);
  void visit_local(const TableHandle& table,
                   const std::function<void(Key key, const std::byte* value, std::size_t length)>& f);

  WorkerGate gate_;
  std::unique_ptr<WorkerCore> core_;
};

}  // namespace lapse
