// Stores what waits for keys that are in flight to this domain or leased by one of its workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/store/words/slot_word.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

// A worker's localize that is to be notified when a key has arrived. The worker is on this rank or on another
// rank of the domain. On this rank, the worker's submission identifies the localize.
class Waiter {
 public:
  Waiter() = default;
  explicit Waiter(Submission& operation)
      : what_(reinterpret_cast<std::uintptr_t>(&operation)), rank_(kLocal) {}
  Waiter(Rank rank, std::uint64_t operation) : what_(operation), rank_(rank.value()) {}

  explicit operator bool() const { return rank_ != kNoRank; }
  // Null for a worker of another rank.
  Submission* local() const { return rank_ == kLocal ? reinterpret_cast<Submission*>(what_) : nullptr; }
  // For a worker of another rank.
  Rank rank() const { return Rank(rank_); }
  std::uint64_t operation() const { return what_; }

  bool operator==(const Waiter&) const = default;

 private:
  static constexpr std::int32_t kNoRank = -1;
  static constexpr std::int32_t kLocal = -2;

  std::uint64_t what_ = 0;
  std::int32_t rank_ = kNoRank;
};

// Pure bookkeeping: no messages, no store. Records are numbered. The slot word of an arriving key stores the
// number of its record, so that finding the record needs no lookup. The slot word of a leased key has no
// space for the number: a map finds the records of leased keys.
//
// Thread safety: the holder of the progress lock.
//
// Most arrivals have one waiting localize and nothing else: a record of 32 bytes, and 4 for its number. Queue
// and further waiters are allocated when needed.
class ArrivalTable {
 public:
  using Clock = KeyQueue::Clock;

  // Opens the record of a key that is requested (`prepared`: its reserved slot) or leased
  // (without `prepared`). `waiter` may be empty.
  std::uint32_t open(Waiter waiter, Clock::time_point now, Slot prepared = {}) LAPSE_REQUIRES(progress_role) {
    if (free_records_.empty()) add_record();
    const std::uint32_t number = free_records_.back();
    free_records_.pop_back();
    if (free_records_.size() >= kAhead) prefetch(free_records_[free_records_.size() - kAhead]);
    Record record;
    record.first_waiter = waiter;
    record.asked = now;
    record.slot_is_private = prepared.is_private ? 1 : 0;
    record.slot = prepared.number;
    records_[number] = record;
    ++in_use_;
    return number;
  }
  // Called when the arrival or the lease has ended. The record's number may be reused.
  void close(std::uint32_t number) LAPSE_REQUIRES(progress_role) {
    Record& record = records_[number];
    if (record.extra != kNoExtra) close_extra(record);
    free_records_.push_back(number);  // add_record has reserved the space.
    --in_use_;
  }

  // Returns the record of a leased key; nullopt if no operation or request waits for the key.
  std::optional<std::uint32_t> find_leased(Key key) const LAPSE_REQUIRES(progress_role);
  // Keeps the record for a leased key that operations or requests wait for.
  void keep_for_lease(std::uint32_t number, Key key) LAPSE_REQUIRES(progress_role);

  // Adds a further localize of the key. It completes with this arrival or, if an INSTRUCT is queued, with the
  // next one.
  void add_waiter(std::uint32_t number, Waiter waiter) LAPSE_REQUIRES(progress_role);
  // The operations and messages that wait for the key. The address is stable until the record is closed.
  KeyQueue& queue(std::uint32_t number) LAPSE_REQUIRES(progress_role) { return extra(number).queue; }
  // Null if no queue has been needed.
  const KeyQueue* find_queue(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return is_plain(number) ? nullptr : &extras_[records_[number].extra].queue;
  }
  bool holds_instruct(std::uint32_t number) const LAPSE_REQUIRES(progress_role);

  // True if nothing waits except the first waiter.
  bool is_plain(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return records_[number].extra == kNoExtra;
  }
  Waiter first_waiter(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return records_[number].first_waiter;
  }
  // Removes and returns all waiters of the arrival.
  std::vector<Waiter> take_waiters(std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // Removes and returns the pending re-localizes: waiters added after an INSTRUCT, for the next arrival.
  std::vector<Waiter> take_relocalizes(std::uint32_t number) LAPSE_REQUIRES(progress_role);
  Clock::time_point asked(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return records_[number].asked;
  }
  // The slot that the store has reserved for the value of an arriving key, if any.
  Slot prepared(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return {records_[number].slot, records_[number].slot_is_private != 0};
  }

  // For a record that is used soon.
  void prefetch(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    __builtin_prefetch(records_.data() + number, 1);
  }

  std::uint64_t in_use() const LAPSE_REQUIRES(progress_role) { return in_use_; }

 private:
  static constexpr std::size_t kAhead = 12;  // prefetches a record this many calls of open before its use
  static constexpr std::uint32_t kNoExtra = 0x7fff'ffffU;

  struct Record {
    Waiter first_waiter;
    Clock::time_point asked;
    std::uint32_t extra : 31 = kNoExtra;
    std::uint32_t slot_is_private : 1 = 0;
    std::uint32_t slot = 0;
  };
  static_assert(sizeof(Record) == 32 && std::is_trivially_copyable_v<Record>);
  struct Extra {
    std::vector<Waiter> waiters;  // further waiters, after the first
    std::vector<Waiter> relocalizes;
    KeyQueue queue;
    std::optional<Key> leased;  // the key under which find_leased finds the record
  };

  // Adds a free record.
  void add_record() LAPSE_REQUIRES(progress_role);
  Extra& extra(std::uint32_t number) LAPSE_REQUIRES(progress_role);
  void close_extra(Record& record) LAPSE_REQUIRES(progress_role);

  std::vector<Record> records_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> free_records_ LAPSE_GUARDED_BY(progress_role);  // a stack, with space for all
  // Stable addresses: records may be opened while a queue is drained.
  std::deque<Extra> extras_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> free_extras_ LAPSE_GUARDED_BY(progress_role);
  std::unordered_map<std::uint64_t, std::uint32_t> leased_ LAPSE_GUARDED_BY(progress_role);  // by key
  std::uint64_t in_use_ LAPSE_GUARDED_BY(progress_role) = 0;
};

}  // namespace lapse
