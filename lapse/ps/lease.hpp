// Exclusive access of a worker to keys, as plain memory.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "lapse/core/counter_values.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

class LeaseHold;

// Keys of one table, for Worker::lease. Refers to the caller's keys.
class LeaseKeys {
 public:
  template <Element T>
  LeaseKeys(const Table<T>& table, std::span<const Key> keys) : table_(table.handle()), keys_(keys) {}

  const TableHandle& table() const { return table_; }
  std::span<const Key> keys() const { return keys_; }

 private:
  TableHandle table_;
  std::span<const Key> keys_;
};

// The keys of one table in a lease.
struct LAPSE_EXPORT LeasePart {
  TableHandle table;
  Rank holder;
  std::vector<Key> keys;          // as given
  std::vector<std::byte*> slots;  // of each key
  TableCounters* counters;        // of the worker and the table

  // Throws LengthMismatch, or UsageError if the table's update rule does not accept the scale.
  void check_update(std::size_t given, std::size_t expected, float scale) const;
  // Returns true if the table checks pushes before its update rule sees them.
  bool is_limited() const;
  // Applies a checked update to a table with limits. Throws NotFiniteUpdate.
  void apply_limited(std::size_t i, const std::byte* update, std::size_t elements, float scale) const;
};

// The values of one table's keys in a lease, in the order of the given keys. Valid while the lease is held.
// If a key was given twice, both positions are the same memory.
template <Element T>
class LeasedValues {
 public:
  explicit LeasedValues(const LeasePart& part)
      : part_(&part),
        slots_(part.slots.data()),
        length_(part.table.length()),
        state_length_(length_ == 0 ? 0 : part.table.state_elements(length_)),
        is_limited_(part.is_limited()) {}

  std::size_t size() const { return part_->slots.size(); }
  // Returns the value, in place.
  std::span<T> operator[](std::size_t i) const { return {reinterpret_cast<T*>(slots_[i]), length(i)}; }
  // Returns the state of the update rule, in place.
  std::span<T> state(std::size_t i) const {
    const std::size_t elements = length(i);
    return {reinterpret_cast<T*>(slots_[i]) + elements,
            length_ != 0 ? state_length_ : part_->table.state_elements(elements)};
  }
  // Applies the update rule, like a push of `update`. Throws LengthMismatch if `update` has not as many
  // elements as the value, UsageError if the rule does not accept `scale`, NotFiniteUpdate if the table
  // refuses the update, and what a rule of the application throws.
  void apply(std::size_t i, std::span<const T> update, float scale = 1.0F) const {
    const std::size_t elements = length(i);
    const auto* const bytes = reinterpret_cast<const std::byte*>(update.data());
    if ((update.size() != elements) | (scale != 1.0F) | is_limited_) [[unlikely]] {
      part_->check_update(update.size(), elements, scale);
      if (is_limited_) return part_->apply_limited(i, bytes, elements, scale);
    }
    part_->table.push_rule().apply(slots_[i], bytes, elements, scale);
  }

 private:
  std::size_t length(std::size_t i) const {
    return length_ != 0 ? length_ : part_->table.length(part_->keys[i]);
  }

  const LeasePart* part_;
  std::byte* const* slots_;
  std::size_t length_;        // 0 if each key has its own
  std::size_t state_length_;  // beside values of length_
  bool is_limited_;
};

// Returned by Worker::lease; only the worker's thread uses it. Movable. The destructor releases the keys.
//
// While a worker holds a lease, its keys are on its rank, and other workers that access them wait. Every call
// of the worker except release, pull_if_local and localize throws UsageError: two holders that waited for
// each other's keys would wait indefinitely.
class LAPSE_EXPORT Lease {
 public:
  // For the library.
  explicit Lease(std::unique_ptr<LeaseHold> hold);
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // Returns the values of this table's keys. Throws UsageError if the lease has none, or if the table belongs
  // to another server.
  template <Element T>
  LeasedValues<T> values(const Table<T>& table) const {
    return LeasedValues<T>(part(table.handle()));
  }

  bool held() const;
  // Ends the lease; does nothing if it has ended. Throws PeerFailed if a rank has failed.
  void release();

  // For the library. Null after a move.
  LeaseHold* hold() const { return hold_.get(); }

 private:
  const LeasePart& part(const TableHandle& table) const;

  std::unique_ptr<LeaseHold> hold_;
};

template <Element T>
Lease Worker::lease(const Table<T>& table, std::span<const Key> keys) {
  return lease({LeaseKeys(table, keys)});
}

inline Lease Worker::lease(std::initializer_list<LeaseKeys> parts) {
  return lease(std::span<const LeaseKeys>(parts.begin(), parts.size()));
}

}  // namespace lapse
