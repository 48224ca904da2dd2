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

// The pure state machine of one rank. A rank sends the minimum of its subtree to its parent whenever it has
// risen; the root's is the minimum of all. What arrives late or twice changes nothing: levels only rise.
class LevelTree {
 public:
  LevelTree() = default;
  LevelTree(std::int32_t ranks, Rank self) : self_(self.value()), levels_{0, 0, 0} {
    for (std::size_t i = 0; i < 2; ++i)
      if (2 * self_ + 1 + static_cast<std::int32_t>(i) >= ranks) levels_[1 + i] = kEndedLevel;
  }

  std::optional<Rank> parent() const {
    return self_ == 0 ? std::nullopt : std::optional(Rank((self_ - 1) / 2));
  }
  // Calls f(rank) for each child.
  template <class F>
  void for_each_child(std::int32_t ranks, F&& f) const {
    for (std::int32_t child = 2 * self_ + 1; child <= 2 * self_ + 2 && child < ranks; ++child) f(Rank(child));
  }

  void set_own(Level level) { raise(0, level); }
  // Throws ProtocolError if the rank is not a child.
  void set_child(Rank child, Level level) {
    const std::int32_t index = child.value() - 2 * self_;
    if (index != 1 && index != 2) throw ProtocolError("a level from a rank that is no child in the tree");
    raise(static_cast<std::size_t>(index), level);
  }
  Level minimum() const { return *std::ranges::min_element(levels_); }

 private:
  void raise(std::size_t index, Level level) { levels_[index] = std::max(levels_[index], level); }

  std::int32_t self_ = 0;
  std::array<Level, 3> levels_{};  // this rank, then its children
};

}  // namespace lapse
