#include "lapse/store/words/sparse_lookup.hpp"

#include <thread>

namespace lapse {

std::uint64_t SparseLookup::settled_state() const {
  constexpr int kSpins = 100;
  std::uint64_t now = state();
  for (int spins = 0; (now & 1) != 0; now = state()) {
    if (++spins > kSpins) std::this_thread::yield();
  }
  return now;
}

}  // namespace lapse
