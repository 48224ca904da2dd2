// Keys that a worker holds exclusively, as plain memory.
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

// Keys of one table, for Worker::lease; refers to the caller's keys.
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

// What a lease holds of one table.
struct LAPSE_EXPORT LeasePart {
  TableHandle table;
  Rank holder;
  std::vector<Key> keys;          // as given
  std::vector<std::byte*> slots;  // of each
  TableCounters* counters;        // of the worker and the table

  // Throws LengthMismatch, or UsageError for a scale that the table's update rule does not accept.
  void check_update(std::size_t given, std::size_t expected, float scale) const;
  // The table looks at pushes before its update rule sees them.
  bool is_limited() const;
  // An update that was checked, of a table with limits. Throws NotFiniteUpdate.
  void apply_limited(std::size_t i, const std::byte* update, std::size_t elements, float scale) const;
};

// The values of one table's keys in a lease, in the order in which the keys were given; valid while the lease
// is held. A key that was given twice is the same memory at both positions.
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
  // The value, in place.
  std::span<T> operator[](std::size_t i) const { return {reinterpret_cast<T*>(slots_[i]), length(i)}; }
  // The state of the update rule, in place.
  std::span<T> state(std::size_t i) const {
    const std::size_t elements = length(i);
    return {reinterpret_cast<T*>(slots_[i]) + elements,
            length_ != 0 ? state_length_ : part_->table.state_elements(elements)};
  }
  // Applies the update rule, as a push of `update` (as many elements as the value has, else LengthMismatch)
  // would; `scale` only for rules that accept one, else UsageError. Throws what a rule of the application
  // throws, and NotFiniteUpdate where the table refuses such updates.
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
  std::size_t length_;        // 0 where each key has its own
  std::size_t state_length_;  // beside values of length_
  bool is_limited_;
};

// Returned by Worker::lease; used by the thread of the worker. Movable; destroying it releases.
//
// While a worker holds a lease, its keys are on its rank and no other worker reads or writes them: others
// wait. Every call of the worker throws UsageError except release, pull_if_local and localize: two holders
// that waited for each other's keys would wait indefinitely.
class LAPSE_EXPORT Lease {
 public:
  // For the library.
  explicit Lease(std::unique_ptr<LeaseHold> hold);
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  // The keys that were given for this table. Throws UsageError when there were none, and for a table of
  // another server.
  template <Element T>
  LeasedValues<T> values(const Table<T>& table) const {
    return LeasedValues<T>(part(table.handle()));
  }

  bool held() const;
  // Ends the lease; again: nothing. Throws PeerFailed when some rank has failed.
  void release();

  // For the library: null after a move.
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
