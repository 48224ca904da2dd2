// What a serving rank stores about the copies that its domain holds.
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

// A copy, from the announcement that the domain wants the key until the owner has acknowledged its end.
struct Replica {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  using Clock = std::chrono::steady_clock;

  // The message that the owner, or the home, has not answered yet. There is at most one for a key. Each of
  // the last three carries changes of the copy.
  enum class Unanswered : std::uint8_t { nothing, on, delta, off, localize };

  Key key;
  std::uint32_t slot = kNone;     // in memory that the domain shares
  std::uint32_t base = kNone;     // in the side slab; what value and state were at the last merge
  std::uint32_t arrival = kNone;  // of the arrival record, where something waits for the key
  Domain owner;                   // that has sent the last message about the key
  Clock::time_point refreshed;    // while awaiting: asked for; while closing: given back
  Unanswered unanswered = Unanswered::nothing;
  bool bit = false;      // of the last DELTA
  bool wanted = false;   // the main copy is: a worker has localized the key, or requested a lease of it
  bool offered = false;  // the owner has offered the main copy
  bool marked = false;   // changed since the last DELTA, and the mark has been taken
  // On which side of the last cut (ReplicaTable): what has been sent, and what is to be sent.
  std::uint8_t sent_side = 0;
  std::uint8_t marked_side = 0;
  std::uint8_t reads = 0;  // noted (ReadSamples), of what it shows now; no more than can be stored
};
static_assert(sizeof(Replica) == 40);

// Records by number. Pure bookkeeping. Thread safety: the holder of the progress lock.
//
// A *cut* separates changes of copies that are not merged yet from those that come later: waits_for_cut is
// true until the former have been merged, however many of the latter there are.
class ReplicaTable {
 public:
  // Throws std::bad_alloc; then nothing has happened.
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

  // The record's message that is not answered yet, from now on. DELTA and OFF carry what was marked.
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
  // The copy has changed, and that is still to be sent; or there is nothing to be sent.
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
  // What is not merged now is before the cut. Not while something is before an earlier one.
  void cut() LAPSE_REQUIRES(progress_role) { side_ ^= 1U; }
  // Whether changes that were not merged when the last cut was made still are not.
  bool waits_for_cut() const LAPSE_REQUIRES(progress_role) { return unmerged_[side_ ^ 1U] > 0; }
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
  std::array<std::size_t, 2> unmerged_ LAPSE_GUARDED_BY(progress_role){};     // by side
  std::uint8_t side_ LAPSE_GUARDED_BY(progress_role) = 0;                     // of what comes now
  std::array<std::size_t, 5> expected_ LAPSE_GUARDED_BY(progress_role) = {};  // records by message
};

}  // namespace lapse
