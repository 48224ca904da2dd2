// Draws without replacement.
#pragma once

#include <cstddef>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampling/key_set.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// Successive sampling: draws one key after the other, each with its probability among the keys not drawn yet.
// Keys come in the order of the draws.
//
// Keys are drawn from the whole distribution until one is new. If that takes too long, because a few keys
// have nearly all of the probability, the others are ordered once: each gets an exponentially distributed
// time with its probability as the rate (Efraimidis and Spirakis 2006), and the earliest comes first. Both
// methods give the same distribution, so it does not matter when the method changes.
//
// Thread safety: none.
class DistinctDraws {
 public:
  // Forgets the drawn keys, and frees the order of the rest.
  void clear();

  // Returns a key that was not drawn before. Throws UsageError if the whole support was drawn. Memory: 16 to
  // 64 bytes for each key drawn. The second method takes 16 bytes for each key of the support until clear(),
  // and 32 during the call that orders them.
  lapse::Key draw(const Distribution& distribution, lapse::RandomEngine& random);

  // Marks a key as drawn. Returns false if it was drawn already.
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
