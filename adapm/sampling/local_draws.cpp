#include "adapm/sampling/local_draws.hpp"

#include <algorithm>
#include <array>

namespace adapm {

using lapse::Key;

std::size_t LocalDraws::draw(const Distribution& distribution, lapse::RandomEngine& random,
                             UsableKeys& usable, DistinctDraws* distinct, std::span<Key> keys) {
  std::array<Key, UsableKeys::kMaxAtOnce> drawn;
  std::array<bool, UsableKeys::kMaxAtOnce> is_usable{};
  std::size_t filled = 0;
  std::size_t remote = 0;
  std::size_t in_vain = 0;  // failed draws since the last key was chosen
  std::size_t least = 1;    // draws at once; more if some draws are not used
  while (filled < keys.size()) {
    const std::size_t count = std::min(drawn.size(), std::max(least, keys.size() - filled));
    const std::span some(drawn.data(), count);
    distribution.draw(random, some);
    usable.find(some, std::span(is_usable).first(count));
    for (std::size_t i = 0; i < count && filled < keys.size(); ++i) {
      if (is_usable[i] && (distinct == nullptr || distinct->take(some[i]))) {
        keys[filled++] = some[i];
        in_vain = 0;
        limit_ = kMaxDraws;
      } else if (++in_vain >= limit_) {
        bool is_local = false;
        if (distinct == nullptr) {
          keys[filled] = some[i];
        } else {
          keys[filled] = distinct->draw(distribution, random);
          usable.find(std::span(&keys[filled], 1), std::span(&is_local, 1));
        }
        ++filled;
        in_vain = 0;
        limit_ = std::max(kMinDraws, limit_ / 2);
        if (!is_local) ++remote;
      } else {
        least = 8;
      }
    }
  }
  return remote;
}

}  // namespace adapm
