// Who waits for keys that are in flight to this domain, or leased by one of its workers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/key_queue.hpp"
#include "lapse/protocol/operation_state.hpp"

namespace lapse {

// A localize that is notified when a key has come: of a worker of this rank, or of another rank of the domain.
class Waiter {
 public:
  Waiter() = default;
  explicit Waiter(OperationState& operation)
      : what_(reinterpret_cast<std::uintptr_t>(&operation)), rank_(kHere) {}
  Waiter(Rank rank, std::uint64_t operation) : what_(operation), rank_(rank.value()) {}

  explicit operator bool() const { return rank_ != kNobody; }
  // Null for a worker of another rank.
  OperationState* local() const {
    return rank_ == kHere ? reinterpret_cast<OperationState*>(what_) : nullptr;
  }
  // Of another rank.
  Rank rank() const { return Rank(rank_); }
  std::uint64_t operation() const { return what_; }

  bool operator==(const Waiter&) const = default;

 private:
  static constexpr std::int32_t kNobody = -1;
  static constexpr std::int32_t kHere = -2;

  std::uint64_t what_ = 0;
  std::int32_t rank_ = kNobody;
};

// Pure bookkeeping: no messages, no store. Records are numbered; the number of an arriving key's record is stored in
// its slot word, so that finding the record needs no lookup; the word of a leased key has no room for it, so leased
// keys are found in a map. Thread safety: the holder of the progress lock.
//
// Most arrivals have one waiting localize and nothing else: a record of 32 bytes. The rest is added when needed.
class ArrivalTable {
 public:
  using Clock = KeyQueue::Clock;

  // A key is asked for; there may be no waiter.
  std::uint32_t open(Waiter waiter, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // The arrival, or the lease, is over. The record's number may be used again.
  void close(std::uint32_t number) LAPSE_REQUIRES(progress_role);

  // The record of a leased key that something waits for, if there is one.
  std::optional<std::uint32_t> find_leased(Key key) const LAPSE_REQUIRES(progress_role);
  // The record stays, for a key that is leased and that something waits for.
  void keep_for_lease(std::uint32_t number, Key key) LAPSE_REQUIRES(progress_role);

  // A further localize of the same key: completes with this arrival, or, when the key is to leave again at once,
  // with the next.
  void add_waiter(std::uint32_t number, Waiter waiter) LAPSE_REQUIRES(progress_role);
  // What waits for the key; stays where it is until the record is closed.
  KeyQueue& queue(std::uint32_t number) LAPSE_REQUIRES(progress_role) { return extra(number).queue; }
  bool holds_instruct(std::uint32_t number) const LAPSE_REQUIRES(progress_role);

  // Nothing but the first waiter waits.
  bool is_plain(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return records_[number].extra == kNone;
  }
  Waiter first_waiter(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return records_[number].first_waiter;
  }
  // All who waited for the arrival; they do not any more.
  std::vector<Waiter> take_waiters(std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // Those that came after an INSTRUCT: pending re-localizes, which wait for the key's next arrival.
  std::vector<Waiter> take_relocalizes(std::uint32_t number) LAPSE_REQUIRES(progress_role);
  Clock::time_point asked(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    return records_[number].asked;
  }

  std::uint64_t in_use() const LAPSE_REQUIRES(progress_role) { return in_use_; }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffffU;

  struct Record {
    Waiter first_waiter;
    Clock::time_point asked;
    std::uint32_t extra = kNone;
    std::uint32_t next_free = kNone;
  };
  struct Extra {
    std::vector<Waiter> waiters;  // after the first
    std::vector<Waiter> relocalizes;
    KeyQueue queue;
    std::optional<Key> leased;  // the key that find_leased finds it by
  };

  Extra& extra(std::uint32_t number) LAPSE_REQUIRES(progress_role);

  std::vector<Record> records_ LAPSE_GUARDED_BY(progress_role);
  std::uint32_t free_record_ LAPSE_GUARDED_BY(progress_role) = kNone;
  std::deque<Extra> extras_
      LAPSE_GUARDED_BY(progress_role);  // stable addresses: a queue may be drained while others begin
  std::vector<std::uint32_t> free_extras_ LAPSE_GUARDED_BY(progress_role);
  std::unordered_map<std::uint64_t, std::uint32_t> leased_ LAPSE_GUARDED_BY(progress_role);  // by key
  std::uint64_t in_use_ LAPSE_GUARDED_BY(progress_role) = 0;
};

}  // namespace lapse
