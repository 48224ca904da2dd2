// What waits for keys that are still under way to this domain, or leased by one of its workers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/operation_state.hpp"

namespace lapse {

struct LeaseRequest;

// Who wants to know that a key has come: a localize of a worker of this rank, or of another rank of the
// domain.
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

// Who wants a key for itself: a worker of this rank, with its request, or worker `worker` of another rank of
// the domain.
struct LeaseAsker {
  LeaseRequest* local = nullptr;
  Rank rank;
  std::uint64_t worker = 0;

  bool operator==(const LeaseAsker&) const = default;
};

// Pure bookkeeping: no messages, no store. Records are numbered; the number lies in the key's word, so that
// finding a record needs no look-up. Thread safety: the holder of the progress lock.
//
// Most arrivals have one waiting localize and nothing else: a record of 32 bytes. The rest is added when
// needed.
class ArrivalTable {
 public:
  using Clock = OperationState::Clock;

  // Something that reached the key early, in the order of reaching.
  struct Queued {
    enum class Kind : std::uint8_t { operation, instruct, lease };
    Kind kind = Kind::operation;
    Domain next;                    // instruct: the domain to hand over to
    std::uint32_t relocations = 0;  // instruct
    OperationPart part;             // operation; its value lies at `value_offset`
    std::size_t value_offset = 0;
    LeaseAsker lease;  // lease
    Clock::time_point since;
  };

  struct Extra {
    std::vector<Waiter> waiters;  // after the first
    std::vector<Waiter> wishes;   // localizes that came after an INSTRUCT: wait for the key's next arrival
    std::vector<Queued> queue;
    std::vector<std::byte> values;
    bool instruct_queued = false;

    OperationPart part(std::size_t position) const {
      OperationPart part = queue[position].part;
      if (part.kind != FrameKind::pull) part.value = values.data() + queue[position].value_offset;
      return part;
    }
    // Forgets the first `count` of the queue.
    void drop_front(std::size_t count) {
      queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(count));
      // Updates lie in the order of the queue; what is no longer needed goes once it is more than half.
      std::size_t first = values.size();
      for (const Queued& queued : queue) {
        if (queued.kind != Queued::Kind::operation || queued.part.kind == FrameKind::pull) continue;
        first = queued.value_offset;
        break;
      }
      if (first <= values.size() / 2) return;
      values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
      for (Queued& queued : queue) queued.value_offset -= std::min(first, queued.value_offset);
    }
  };

  // A key is asked for; `waiter` may be nobody.
  std::uint32_t open(Waiter waiter, Clock::time_point now);
  // The arrival is over. The record's number may be used again.
  void close(std::uint32_t number);

  // A further localize of the same key: completes with this arrival, or, when the key is to leave again at
  // once, with the next.
  void add_waiter(std::uint32_t number, Waiter waiter);
  // `update_bytes`: what part.value has.
  void queue_operation(std::uint32_t number, const OperationPart& part, std::size_t update_bytes,
                       Clock::time_point now);
  void queue_lease(std::uint32_t number, const LeaseAsker& asker, Clock::time_point now);
  void queue_instruct(std::uint32_t number, Domain next, std::uint32_t relocations, Clock::time_point now);

  Waiter first_waiter(std::uint32_t number) const { return records_[number].first_waiter; }
  // Everybody who waited for the arrival; nobody does any more.
  std::vector<Waiter> take_waiters(std::uint32_t number);
  Clock::time_point asked(std::uint32_t number) const { return records_[number].asked; }
  // Null when nothing but the first waiter waits.
  Extra* extra(std::uint32_t number) {
    const std::uint32_t extra = records_[number].extra;
    return extra == kNone ? nullptr : &extras_[extra];
  }

  std::uint64_t in_use() const { return in_use_; }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffffU;

  struct Record {
    Waiter first_waiter;
    Clock::time_point asked;
    std::uint32_t extra = kNone;
    std::uint32_t next_free = kNone;
  };

  Extra& make_extra(std::uint32_t number);

  std::vector<Record> records_;
  std::uint32_t free_record_ = kNone;
  std::deque<Extra> extras_;  // stable addresses: an arrival may be worked off while others begin
  std::vector<std::uint32_t> free_extras_;
  std::uint64_t in_use_ = 0;
};

}  // namespace lapse
