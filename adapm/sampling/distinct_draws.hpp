// Draws without replacement.
#pragma once

#include <cstddef>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampling/key_set.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// Draws keys one after the other, each with its probability among the keys that have not been drawn yet
// (successive sampling). The order of the keys is that of the draws.
//
// Keys are drawn from the whole distribution until one is new. Where that takes too long, as a few keys have
// nearly all of the probability, the others are ordered once for all: each has an exponentially distributed
// time at the rate of its probability (Efraimidis and Spirakis 2006), and the earliest comes first. Both give
// the same distribution, so it does not matter when the way changes.
//
// Thread safety: none.
class DistinctDraws {
 public:
  // Forgets what was drawn, and frees the order of the rest.
  void clear();

  // A key that has not been drawn. Throws UsageError when the whole support was drawn. Memory: 16 to 64 bytes
  // for each key drawn, in the second way 16 for each key of the support until clear(), 32 during the call
  // that orders them.
  lapse::Key draw(const Distribution& distribution, lapse::RandomEngine& random);

  // Counts a key as drawn that came in another way; false where it was drawn.
  bool take(lapse::Key key) { return taken_.insert(key); }
  std::size_t taken() const { return taken_.size(); }
  std::size_t memory_bytes() const { return taken_.memory_bytes() + rest_.capacity() * sizeof(TimedKey); }

 private:
  struct TimedKey {
    double time;
    lapse::Key key;
  };

  void order_rest(const Distribution& distribution, lapse::RandomEngine& random);

  KeySet taken_;
  std::vector<TimedKey> rest_;  // a heap, the earliest first; may have keys that were taken since
};

}  // namespace adapm
