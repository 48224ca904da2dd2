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
// keys, uses it `pool_uses` times, in a new random order each time, and draws the next. Which keys come
// depends on seed and the number of keys that came before. Without replacement the keys of one pool are
// different, and so are those of one sample: what the sample has already is left out.
//
// A pool is announced for as long as it is expected to be in use, by the clocks that samples took before;
// where it is in use for longer, its keys are announced again.
//
// Thread safety: none.
class SamplePool {
 public:
  // The keys will be accessed between these clocks.
  using Announce =
      std::function<void(std::span<const lapse::Key> keys, lapse::Clock start, lapse::Clock end)>;

  // The distribution outlives the object; without replacement it has at least `pool_keys` keys.
  SamplePool(const Distribution& distribution, const Sampling& sampling)
      : distribution_(distribution), sampling_(sampling) {}

  // Draws pools of this seed from now on, which are to be announced.
  void restart(std::uint64_t seed);

  // Puts as many keys into `to`, for a sample that is used between these clocks; at most pool_keys without
  // replacement. `taken` is empty then, and has these keys afterwards. What `announce` throws passes; then
  // the keys of the sample are lost.
  void take(std::size_t keys, lapse::Clock start, lapse::Clock end, std::vector<lapse::Key>& to,
            DistinctDraws& taken, const Announce& announce);

 private:
  // Begins to use the pool once more, or draws the next one.
  void next_pass();
  void draw_pool();
  // The pool is in use between these clocks.
  void cover(lapse::Clock start, lapse::Clock end, const Announce& announce);

  const Distribution& distribution_;
  const Sampling sampling_;
  std::uint64_t seed_ = 0;
  std::uint64_t pools_ = 0;  // that were drawn
  lapse::RandomEngine random_{0};
  DistinctDraws distinct_;
  std::vector<lapse::Key> keys_;
  std::uint32_t pass_ = 0;
  std::size_t next_ = 0;  // of this pass
  // when the pool is in use
  bool announced_ = false;
  lapse::Clock first_ = {};  // start of the first sample that uses it
  lapse::Clock begin_ = {};  // as announced
  lapse::Clock end_ = {};
  double clocks_per_key_ = 0;  // between starts of samples, divided by keys that came
};

}  // namespace adapm
