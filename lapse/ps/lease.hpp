// Keys that a worker has for itself, as plain memory.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/ps/argument_checks.hpp"
#include "lapse/ps/table.hpp"

namespace lapse {

class Worker;

// Keys of one table, for Worker::lease; refers to the caller's keys.
class LeaseKeys {
 public:
  template <Element T>
  LeaseKeys(const Table<T>& table, std::span<const Key> keys)
      : state_(table.state_), server_(table.server_), keys_(keys) {}

 private:
  friend class LeaseTaker;
  TableShard* state_;
  const void* server_;
  std::span<const Key> keys_;
};

// The values of one table's keys in a lease, in the order in which the keys were given; valid while the lease
// is held. A key that was given twice is at both places the same memory.
template <Element T>
class LeasedValues {
 public:
  // `rank` is the holder's.
  LeasedValues(const TableShard& table, std::span<const Key> keys, std::span<std::byte* const> contents,
               Rank rank)
      : table_(&table),
        checks_(rank),
        keys_(keys.data()),
        contents_(contents.data()),
        size_(contents.size()),
        length_(table.store().sizes().uniform() ? table.store().sizes().layout().length : 0) {}

  std::size_t size() const { return size_; }
  // The value, in place.
  std::span<T> operator[](std::size_t i) const { return {reinterpret_cast<T*>(contents_[i]), length(i)}; }
  // The state of the update rule, in place.
  std::span<T> state(std::size_t i) const {
    const std::size_t elements = length(i);
    return {reinterpret_cast<T*>(contents_[i]) + elements,
            table_->store().sizes().layout().state_elements(elements)};
  }
  // Applies the update rule, as a push of `update` (as many elements as the value has, else LengthMismatch)
  // would; `scale` only for rules that accept one, else UsageError. Throws what a rule of the application
  // throws.
  void apply(std::size_t i, std::span<const T> update, float scale = 1.0F) const {
    if (update.size() != length(i)) [[unlikely]]
      checks_.count(*table_, "update", update.size(), length(i));
    if (scale != 1.0F) checks_.scale(*table_, scale);
    table_->definition().rule.apply(contents_[i], reinterpret_cast<const std::byte*>(update.data()),
                                    length(i), scale);
  }

 private:
  std::size_t length(std::size_t i) const {
    return length_ != 0 ? length_ : table_->store().sizes().length(keys_[i]);
  }

  const TableShard* table_;
  ArgumentChecks checks_;
  const Key* keys_;
  std::byte* const* contents_;
  std::size_t size_;
  std::size_t length_;
};

// Returned by Worker::lease; used by the thread of the worker. Movable; destroying it releases.
//
// While a worker holds a lease, its keys are on its rank and nobody else reads or writes them: others wait.
// Every call of the worker throws UsageError except release, pull_if_local and localize: a holder that waited
// for somebody else's keys could wait for each other with that somebody, for ever.
class Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // The keys that were given for this table. Throws UsageError when there were none, and for a table of
  // another server.
  template <Element T>
  LeasedValues<T> values(const Table<T>& table) const {
    const Part& part = this->part(*table.state_);
    return {*part.table, part.keys, part.contents, rank_};
  }

  bool held() const { return worker_ != nullptr; }
  // Ends the lease; again: nothing. Throws PeerFailed when some rank has failed.
  void release();

 private:
  friend class LeaseTaker;

  struct Part {
    TableShard* table;
    std::vector<Key> keys;             // as given
    std::vector<std::byte*> contents;  // of each
  };

  // The worker holds the keys from now on.
  explicit Lease(Worker& worker);
  const Part& part(const TableShard& table) const;

  Worker* worker_;  // null once released
  Rank rank_;
  std::vector<Part> parts_;
};

}  // namespace lapse
