// Work of an application between a pull and a push, which takes a given time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

namespace lapse::bench {

// Computes the updates of a batch from its values, in passes over all of them. Every update is exactly 1, so
// a program can compare its sums with the number of its batches.
class BatchComputation {
 public:
  // For batches of `floats` values.
  explicit BatchComputation(std::size_t floats) : floats_(floats) {}

  // Collective. Rank 0 measures how long a pass takes, and chooses the number of passes, equal on every rank,
  // that take `seconds`. Called before the other functions.
  void calibrate(MPI_Comm communicator, double seconds);

  void compute(std::span<const float> values, std::span<float> updates) const;

  // Collective. Returns the seconds in which rank 0 computes that many batches and does nothing else, and 0
  // on other ranks.
  double time_alone(MPI_Comm communicator, std::size_t batches) const;

 private:
  std::size_t floats_;
  int passes_ = 0;
};

}  // namespace lapse::bench
