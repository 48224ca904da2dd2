// Draws among the keys in local memory.
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
// probability among the currently usable keys, without a list of these; a key takes 1 / (their probability)
// draws on average. After `limit` failed draws the last key is used (without replacement: a new key), usable
// or not; if not, it is a *remote draw*. Each such key halves the limit, from 256 down to 4; any other resets
// it to 256. So a sample soon costs little if no key is local.
//
// Thread safety: none.
class LocalDraws {
 public:
  void clear() { limit_ = kMaxDraws; }

  // Fills `keys`. `distinct`: keys already drawn, which are not drawn again; null: keys may repeat. Returns
  // the number of remote draws. Throws what DistinctDraws::draw throws.
  std::size_t draw(const Distribution& distribution, lapse::RandomEngine& random, UsableKeys& usable,
                   DistinctDraws* distinct, std::span<lapse::Key> keys);

 private:
  static constexpr std::size_t kMaxDraws = 256;
  static constexpr std::size_t kMinDraws = 4;

  std::size_t limit_ = kMaxDraws;
};

}  // namespace adapm
