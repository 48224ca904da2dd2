// Keys that are drawn once and used several times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampling/distinct_draws.hpp"
#include "adapm/sampling_options.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// The scheme *pool* of one worker (sample reuse of NuPS, Renz-Wieland et al., SIGMOD 2022): draws a pool of
// keys, uses it `pool_uses` times, in a new random order each time, and draws the next pool. The keys depend
// only on the seed and the number of keys taken before. Without replacement the keys of a pool differ, and so
// do those of a sample: keys that the sample has already are skipped.
//
// A pool is announced for its expected time of use, estimated from the clocks of earlier samples. If it is
// used for longer, its keys are announced again.
//
// Thread safety: none.
class SamplePool {
 public:
  // Announces that the keys will be accessed between these clocks.
  using Announce =
      std::function<void(std::span<const lapse::Key> keys, lapse::Clock start, lapse::Clock end)>;

  // The distribution must outlive the object. Without replacement it needs at least `pool_keys` keys.
  SamplePool(const Distribution& distribution, const Sampling& sampling)
      : distribution_(distribution), sampling_(sampling) {}

  // Starts anew with this seed: the next pool is drawn and announced.
  void restart(std::uint64_t seed);

  // Appends `keys` keys to `to`, for a sample that is used between these clocks; at most pool_keys without
  // replacement. Without replacement, `taken` must be empty, and gets these keys. Exceptions of `announce`
  // propagate; then the keys of the sample are lost.
  void take(std::size_t keys, lapse::Clock start, lapse::Clock end, std::vector<lapse::Key>& to,
            DistinctDraws& taken, const Announce& announce);

 private:
  // Begins to use the pool once more, or draws the next one.
  void next_pass();
  void draw_pool();
  // Announces the pool unless its announcement covers these clocks.
  void cover(lapse::Clock start, lapse::Clock end, const Announce& announce);

  const Distribution& distribution_;
  const Sampling sampling_;
  std::uint64_t seed_ = 0;
  std::uint64_t pools_ = 0;  // drawn so far
  lapse::RandomEngine random_{0};
  DistinctDraws distinct_;
  std::vector<lapse::Key> keys_;
  std::uint32_t pass_ = 0;
  std::size_t next_ = 0;  // of this pass
  // the time of use of the pool
  bool announced_ = false;
  lapse::Clock first_ = {};  // start of the first sample that uses it
  lapse::Clock begin_ = {};  // as announced
  lapse::Clock end_ = {};
  double clocks_per_key_ = 0;  // between starts of samples, divided by keys taken
};

}  // namespace adapm
