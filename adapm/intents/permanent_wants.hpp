// Keys that every domain wants from the start to the end, as static techniques have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "adapm/intent.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/table/intent_source.hpp"

namespace adapm {

// Each rank wants the keys that it serves in its domain, once; a limited number in each round, so that rounds
// stay short. These wants last until the server closes.
//
// Thread safety: add: while no engine runs. want_some: the holder of the progress lock.
class PermanentWants {
 public:
  // Keys checked in one round.
  static constexpr std::size_t kKeysPerRound = std::size_t{1} << 16;

  // Whether this rank serves a key in its domain; pure.
  using Serves = std::function<bool(lapse::Key)>;

  void add(lapse::TableId table, KeyRange range, Serves serves);
  // Each key once.
  void add(lapse::TableId table, std::vector<lapse::Key> keys, Serves serves);

  // Wants the next keys and returns their number. Checks at most `limit` keys.
  std::size_t want_some(lapse::WantSink& sink, std::size_t limit = kKeysPerRound)
      LAPSE_REQUIRES(lapse::progress_role);
  bool empty() const { return parts_.empty(); }

 private:
  struct Part {
    lapse::TableId table;
    KeyRange range;                // what remains
    std::vector<lapse::Key> keys;  // if this is not empty, the range counts its elements
    Serves serves;
  };

  std::deque<Part> parts_;
  std::vector<lapse::Key> served_;
};

}  // namespace adapm
