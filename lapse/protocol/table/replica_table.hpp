// A serving rank's records of the replicas that its domain holds.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/words/slot_word.hpp"

namespace lapse {

// A replica, from the announcement that the domain wants the key until the owner has acknowledged its end.
struct Replica {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  using Clock = std::chrono::steady_clock;

  // The message that the owner, or the home, has not answered yet: at most one per key. Each of the last
  // three carries changes of the replica.
  enum class Unanswered : std::uint8_t { nothing, on, delta, off, localize };

  Key key;
  std::uint32_t slot = kNone;     // in memory that the domain shares
  std::uint32_t base = kNone;     // in the side slab; value and state at the last merge
  std::uint32_t arrival = kNone;  // the arrival record, if something waits for the key
  Domain owner;                   // the sender of the last message about the key
  Clock::time_point refreshed;    // while awaiting: time of the request; while closing: of the end
  Unanswered unanswered = Unanswered::nothing;
  bool bit = false;      // of the last DELTA
  bool wanted = false;   // a worker has localized the key or requested a lease: the main copy is wanted
  bool offered = false;  // the owner has offered the main copy
  bool marked = false;   // changed since the last DELTA; the slot's mark has been taken
  // The side of the last cut (see ReplicaTable) of the changes that were sent, and of those still to be sent.
  std::uint8_t sent_side = 0;
  std::uint8_t marked_side = 0;
  std::uint8_t reads = 0;  // of its current content that ReadSamples has noted; saturates
};
static_assert(sizeof(Replica) == 40);

// Numbered records. Pure bookkeeping. Thread safety: the holder of the progress lock.
//
// A *cut* separates the changes of replicas that are not merged yet from later ones: waits_for_cut is true
// until the former have been merged, however many later ones there are.
class ReplicaTable {
 public:
  // Throws std::bad_alloc and then has no effect.
  std::uint32_t open(const Replica& replica) LAPSE_REQUIRES(progress_role) {
    const bool is_new = free_.empty();
    if (is_new) records_.push_back(replica);
    ++in_use_;
    ++expected_[index(replica.unanswered)];
    if (is_new) return static_cast<std::uint32_t>(records_.size() - 1);
    const std::uint32_t number = free_.back();
    free_.pop_back();
    records_[number] = replica;
    return number;
  }
  void close(std::uint32_t number) LAPSE_REQUIRES(progress_role) {
    expect(records_[number], Replica::Unanswered::nothing);
    unmark(records_[number]);
    --expected_[index(Replica::Unanswered::nothing)];
    records_[number] = Replica{};
    free_.push_back(number);
    --in_use_;
  }
  // For a record that is used soon.
  void prefetch(std::uint32_t number) const LAPSE_REQUIRES(progress_role) {
    __builtin_prefetch(records_.data() + number, 1);
  }
  // Valid until the next open.
  Replica& at(std::uint32_t number) LAPSE_REQUIRES(progress_role) { return records_[number]; }
  const Replica& at(std::uint32_t number) const LAPSE_REQUIRES(progress_role) { return records_[number]; }

  // Sets the record's unanswered message. DELTA and OFF carry the marked changes.
  void expect(Replica& replica, Replica::Unanswered message) LAPSE_REQUIRES(progress_role) {
    const auto carries = [](Replica::Unanswered which) { return which > Replica::Unanswered::on; };
    --expected_[index(replica.unanswered)];
    ++expected_[index(message)];
    if (carries(replica.unanswered)) --unmerged_[replica.sent_side];
    replica.unanswered = message;
    if (!carries(message)) return;
    const bool takes_mark = replica.marked && message != Replica::Unanswered::localize;
    replica.sent_side = takes_mark ? replica.marked_side : side_;
    ++unmerged_[replica.sent_side];
    if (takes_mark) unmark(replica);
  }
  // Marks that the replica has changes still to be sent; unmark: it has none.
  void mark(Replica& replica) LAPSE_REQUIRES(progress_role) {
    if (replica.marked) return;
    replica.marked = true;
    replica.marked_side = side_;
    ++unmerged_[side_];
  }
  void unmark(Replica& replica) LAPSE_REQUIRES(progress_role) {
    if (!replica.marked) return;
    replica.marked = false;
    --unmerged_[replica.marked_side];
  }
  // Moves all changes that are not merged now before the cut. Requires that none is before an earlier cut.
  void cut() LAPSE_REQUIRES(progress_role) { side_ ^= 1U; }
  // Whether changes from before the last cut are still not merged.
  bool waits_for_cut() const LAPSE_REQUIRES(progress_role) { return unmerged_[side_ ^ 1U] > 0; }
  // Counts the records with any unanswered message, or with this one.
  std::size_t unanswered() const LAPSE_REQUIRES(progress_role) {
    return in_use_ - expected_[index(Replica::Unanswered::nothing)];
  }
  std::size_t unanswered(Replica::Unanswered message) const LAPSE_REQUIRES(progress_role) {
    return expected_[index(message)];
  }

  // All numbers of records are below this one.
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
  std::array<std::size_t, 2> unmerged_ LAPSE_GUARDED_BY(progress_role){};     // by side
  std::uint8_t side_ LAPSE_GUARDED_BY(progress_role) = 0;                     // of new changes
  std::array<std::size_t, 5> expected_ LAPSE_GUARDED_BY(progress_role) = {};  // records by message
};

}  // namespace lapse
