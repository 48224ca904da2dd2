// The keys of one sample, from its preparation to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampling/distinct_draws.hpp"
#include "adapm/sampling/local_draws.hpp"
#include "adapm/sampling/usable_keys.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// Counts of a call that took keys.
struct TakenKeys {
  std::size_t postponed = 0;  // not usable in their turn, and moved after all others
  std::size_t remote = 0;     // drawn by LocalDraws although not usable
};

// Either lists keys that were drawn in advance, or draws keys when they are taken.
//
// Listed keys are taken in order. With `postpone`, a key that is not usable in its turn is taken after all
// others have had their turn, usable or not. So a sample that is taken completely always has the listed keys.
//
// Thread safety: one thread at a time. Memory is kept for the next sample.
class PreparedKeys {
 public:
  // Begins the next sample: a list, or draws. The list must have `size` keys before keys are taken from it.
  // Throws std::bad_alloc.
  void begin_list(std::size_t size, bool postpone);
  // Draws the list that was begun.
  void draw_list(const Distribution& distribution, lapse::RandomEngine& random, bool with_replacement);
  void begin_draws(std::size_t size, const lapse::RandomEngine& random, bool with_replacement);

  std::vector<lapse::Key>& list() { return list_; }
  DistinctDraws& distinct() { return distinct_; }

  // Ends the draws of this sample. Frees the state of draws without replacement, up to one entry for each key
  // of the distribution.
  void end_draws() { distinct_.clear(); }

  // Whether it has too much memory to be kept for reuse.
  bool is_large() const {
    return list_.capacity() > kMaxKeptKeys || distinct_.memory_bytes() > kMaxKeptBytes;
  }

  std::size_t size() const { return size_; }
  std::size_t left() const { return size_ - taken_; }

  // Takes the next keys into `keys`, at most left() keys.
  TakenKeys take(std::span<lapse::Key> keys, const Distribution& distribution, UsableKeys& usable);

 private:
  static constexpr std::size_t kMaxKeptKeys = std::size_t{1} << 14;
  static constexpr std::size_t kMaxKeptBytes = 32 * kMaxKeptKeys;  // of kMaxKeptKeys drawn keys

  void begin(std::size_t size);
  // Returns the number of postponed keys.
  std::size_t take_usable_first(std::span<lapse::Key> keys, UsableKeys& usable);

  std::size_t size_ = 0;
  std::size_t taken_ = 0;
  // a list
  std::vector<lapse::Key> list_;
  std::size_t turn_ = 0;  // keys that have had their turn
  bool postpone_ = false;
  std::vector<lapse::Key> postponed_;
  std::size_t next_postponed_ = 0;
  // draws
  bool draws_ = false;
  bool with_replacement_ = true;
  lapse::RandomEngine random_{0};
  LocalDraws local_;
  DistinctDraws distinct_;  // also used while a list is drawn
};

}  // namespace adapm
