// Draws among the keys that are in memory.
#pragma once

#include <cstddef>
#include <span>

#include "adapm/distribution.hpp"
#include "adapm/sampling/distinct_draws.hpp"
#include "adapm/sampling/usable_keys.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// The scheme *local*: draws from the distribution until a key is usable. So each usable key comes with its
// probability among those that are usable at that moment, and no list of these is needed; a key takes
// 1 / (their probability) draws. After a limited number of draws in vain the last one is used, or without
// replacement a key that is new, wherever it is: a *remote draw* unless it is usable. The limit, 256 at
// first, is halved by each key that is used so, down to 4, and 256 again after others: where nothing is
// local, a sample soon costs little.
//
// Thread safety: none.
class LocalDraws {
 public:
  void clear() { limit_ = kMaxDraws; }

  // Fills `keys`. `distinct`: what was drawn before and must not come again; null: anything may.
  // Returns the number of remote draws. Throws as DistinctDraws::draw.
  std::size_t draw(const Distribution& distribution, lapse::RandomEngine& random, UsableKeys& usable,
                   DistinctDraws* distinct, std::span<lapse::Key> keys);

 private:
  static constexpr std::size_t kMaxDraws = 256;
  static constexpr std::size_t kMinDraws = 4;

  std::size_t limit_ = kMaxDraws;
};

}  // namespace adapm
