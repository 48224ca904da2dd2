// The minimum of the levels of all ranks, found over a tree of ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/worker/worker_level.hpp"

namespace lapse {

// A level of clocks, and one of epochs. Where a comment speaks of a level, it holds for each of the two.
struct LevelPair {
  Level clock = 0;
  Level epoch = 0;

  void raise(const LevelPair& other) {
    clock = std::max(clock, other.clock);
    epoch = std::max(epoch, other.epoch);
  }
  void lower(const LevelPair& other) {
    clock = std::min(clock, other.clock);
    epoch = std::min(epoch, other.epoch);
  }
  bool exceeds(const LevelPair& other) const { return clock > other.clock || epoch > other.epoch; }
  bool operator==(const LevelPair&) const = default;
};

// level_up, of the ranks of a subtree: the least levels up to which each has merged, the least epoch up to
// which the copies of each show all, the highest epoch that is wanted, the highest clock of a worker.
// level_down, of all ranks: the same, but the epoch that is to be the next; with the least clock kEndedLevel:
// the group has ended.
struct LevelReport {
  // The workers of a group in slots.
  struct Seats {
    std::uint32_t taken = 0;
    std::uint32_t all = 0;  // of the group, as some rank knows it; 0: none does

    bool are_complete() const { return all > 0 && taken == all; }
    void raise(const Seats& other) {
      taken = std::max(taken, other.taken);
      all = std::max(all, other.all);
    }
    bool operator==(const Seats&) const = default;
  };

  LevelPair merged;
  Level visible = 0;
  Level wanted = 0;
  Level highest = 0;
  Seats seats;

  void raise(const LevelReport& other) {
    merged.raise(other.merged);
    visible = std::max(visible, other.visible);
    wanted = std::max(wanted, other.wanted);
    highest = std::max(highest, other.highest);
    seats.raise(other.seats);
  }
  bool exceeds(const LevelReport& other) const {
    return merged.exceeds(other.merged) || visible > other.visible || wanted > other.wanted ||
           highest > other.highest || seats.taken > other.seats.taken || seats.all > other.seats.all;
  }
  bool operator==(const LevelReport&) const = default;
};
static_assert(sizeof(LevelReport) == 48);

// The pure state machine of one rank. A rank sends what its subtree reports to its parent whenever it has
// risen; the root's is that of all. What arrives late or twice changes nothing: levels only rise.
class LevelTree {
 public:
  LevelTree() = default;
  LevelTree(std::int32_t ranks, Rank self) : self_(self.value()) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (2 * self_ + 1 + static_cast<std::int32_t>(i) >= ranks)
        reports_[1 + i] = {.merged = {kEndedLevel, kEndedLevel},
                           .visible = kEndedLevel,
                           .wanted = 0,
                           .highest = 0,
                           .seats = {}};
    }
  }

  std::optional<Rank> parent() const {
    return self_ == 0 ? std::nullopt : std::optional(Rank((self_ - 1) / 2));
  }
  // Calls f(rank) for each child.
  template <class F>
  void for_each_child(std::int32_t ranks, F&& f) const {
    for (std::int32_t child = 2 * self_ + 1; child <= 2 * self_ + 2 && child < ranks; ++child) f(Rank(child));
  }

  void set_own(const LevelReport& report) { reports_[0].raise(report); }
  // Throws ProtocolError if the rank is not a child.
  void set_child(Rank child, const LevelReport& report) {
    const std::int32_t index = child.value() - 2 * self_;
    if (index != 1 && index != 2) throw ProtocolError("a level from a rank that is no child in the tree");
    reports_[static_cast<std::size_t>(index)].raise(report);
  }
  LevelReport of_subtree() const {
    LevelReport all = reports_[0];
    for (const LevelReport& child : {reports_[1], reports_[2]}) {
      all.merged.lower(child.merged);
      all.visible = std::min(all.visible, child.visible);
      all.wanted = std::max(all.wanted, child.wanted);
      all.highest = std::max(all.highest, child.highest);
      all.seats.taken += child.seats.taken;
      all.seats.all = std::max(all.seats.all, child.seats.all);
    }
    return all;
  }

 private:
  std::int32_t self_ = 0;
  std::array<LevelReport, 3> reports_{};  // this rank, then its children
};

}  // namespace lapse
