#include "bench/batch_computation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bench/support/joint_timer.hpp"

namespace lapse::bench {

namespace {

// A pass reduces an update's distance from 1 to a sixteenth, and floats round the last one to 0. Thus any
// value up to a million becomes 1.
constexpr int kMinPasses = 12;
constexpr float kWeight = 1.0F / 16;

// One function for all callers: where it is inlined, or compiled for a constant number of passes, a pass may
// take twice or half as long.
[[gnu::noinline]] void compute_passes(std::span<const float> values, std::span<float> updates, int passes) {
  const auto approach = [](float value) { return value * kWeight + (1 - kWeight); };
  std::ranges::transform(values, updates.begin(), approach);
  for (int pass = 1; pass < passes; ++pass) {
    touch(updates.data());  // The compiler must not exchange the loops.
    for (float& update : updates) update = approach(update);
  }
}

// The passes over that many values that take `seconds`.
int passes_in(std::size_t floats, double seconds) {
  constexpr int kTrials = 2000;
  int passes = 100;
  touch(&passes);  // The compiler must not know the number.
  const std::vector<float> values(floats, 2.0F);
  std::vector<float> updates(floats);
  double best = std::numeric_limits<double>::max();
  for (int trial = 0; trial < kTrials; ++trial) {
    const Clock::time_point begin = Clock::now();
    compute_passes(values, updates, passes);
    best = std::min(best, seconds_between(begin, Clock::now()));
  }
  return std::max(kMinPasses, static_cast<int>(std::lround(seconds * passes / best)));
}

}  // namespace

void BatchComputation::calibrate(MPI_Comm communicator, double seconds) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  if (rank == 0) passes_ = passes_in(floats_, seconds);
  MPI_Bcast(&passes_, 1, MPI_INT, 0, communicator);
}

void BatchComputation::compute(std::span<const float> values, std::span<float> updates) const {
  compute_passes(values, updates, passes_);
}

double BatchComputation::time_alone(MPI_Comm communicator, std::size_t batches) const {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const std::vector<float> values(floats_, 2.0F);
  std::vector<float> updates(floats_);
  double seconds = 0;
  MPI_Barrier(communicator);
  if (rank == 0) {
    const Clock::time_point begin = Clock::now();
    for (std::size_t batch = 0; batch < batches; ++batch) compute(values, updates);
    seconds = seconds_between(begin, Clock::now());
  }
  MPI_Barrier(communicator);
  return seconds;
}

}  // namespace lapse::bench
