// What a serving rank stores about the copies that its domain holds.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/slot_word.hpp"

namespace lapse {

// A copy, from the announcement that the domain wants the key until the owner has acknowledged its end.
struct Replica {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  using Clock = std::chrono::steady_clock;

  // The message that the owner has not answered yet. There is at most one for a key.
  enum class Unanswered : std::uint8_t { nothing, on, delta, off };

  Key key;
  std::uint32_t slot = kNone;     // in memory that the domain shares
  std::uint32_t base = kNone;     // in the side slab; what value and state were at the last merge
  std::uint32_t arrival = kNone;  // of the arrival record, where something waits for the key
  Domain owner;                   // that has sent the last message about the key
  Clock::time_point refreshed;
  Unanswered unanswered = Unanswered::nothing;
  bool bit = false;      // of the last DELTA
  bool wanted = false;   // a worker has localized the key, or requested a lease of it
  bool offered = false;  // the owner has offered the main copy
  bool marked = false;   // changed since the last DELTA, and the mark has been taken
};

// Records by number. Pure bookkeeping. Thread safety: the holder of the progress lock.
class ReplicaTable {
 public:
  std::uint32_t open(const Replica& replica) LAPSE_REQUIRES(progress_role) {
    ++in_use_;
    ++expected_[index(replica.unanswered)];
    if (free_.empty()) {
      records_.push_back(replica);
      return static_cast<std::uint32_t>(records_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    records_[number] = replica;
    return number;
  }
  void close(std::uint32_t number) LAPSE_REQUIRES(progress_role) {
    --expected_[index(records_[number].unanswered)];
    records_[number] = Replica{};
    free_.push_back(number);
    --in_use_;
  }
  // Valid until the next open.
  Replica& at(std::uint32_t number) LAPSE_REQUIRES(progress_role) { return records_[number]; }
  const Replica& at(std::uint32_t number) const LAPSE_REQUIRES(progress_role) { return records_[number]; }

  // The record's message that the owner has not answered yet, from now on.
  void expect(Replica& replica, Replica::Unanswered message) LAPSE_REQUIRES(progress_role) {
    --expected_[index(replica.unanswered)];
    ++expected_[index(message)];
    replica.unanswered = message;
  }
  // Records with such a message; with this one.
  std::size_t unanswered() const LAPSE_REQUIRES(progress_role) {
    return in_use_ - expected_[index(Replica::Unanswered::nothing)];
  }
  std::size_t unanswered(Replica::Unanswered message) const LAPSE_REQUIRES(progress_role) {
    return expected_[index(message)];
  }

  // Numbers of records are below this one.
  std::size_t records() const LAPSE_REQUIRES(progress_role) { return records_.size(); }
  std::size_t in_use() const LAPSE_REQUIRES(progress_role) { return in_use_; }
  std::size_t memory_bytes() const LAPSE_REQUIRES(progress_role) {
    return records_.capacity() * sizeof(Replica) + free_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static std::size_t index(Replica::Unanswered message) { return static_cast<std::size_t>(message); }

  std::vector<Replica> records_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> free_ LAPSE_GUARDED_BY(progress_role);
  std::size_t in_use_ LAPSE_GUARDED_BY(progress_role) = 0;
  std::array<std::size_t, 4> expected_ LAPSE_GUARDED_BY(progress_role) = {};  // records by message
};

}  // namespace lapse
