// A hand-written MPI program that computes a batch while rows of later batches move to its rank.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/batch_computation.hpp"
#include "bench/plain_pipeline.hpp"
#include "lapse/core/types.hpp"

namespace lapse::bench {

// Both ranks have an array with space for all rows of kLength floats, and record the owner of each row;
// initially rank 1 owns all rows. In each turn one rank takes all rows, batch by batch, and computes: it
// sends the keys of the batch that is `ahead` of the current one, waits for the rows of the current one,
// copies them into its array, records the new owner, computes their updates and adds these to its rows. The
// other rank gathers the rows of the keys, records their new owner and sends them. Receives are posted in
// advance, and requests are persistent.
//
// One object on each of two ranks.
class PlainMovePipeline {
 public:
  PlainMovePipeline(MPI_Comm communicator, std::uint64_t rows, const BatchComputation& computation);

  // Collective, with the same work on both ranks. The keys are all different. Rank 0 takes them in the first
  // turn, rank 1 in the second, and continues so. Returns the seconds in which rows were taken, equal on both
  // ranks, without the time between turns.
  double run(const PipelineWork& work, std::size_t turns);

  // The sum of all values that this rank owns.
  double sum() const;

 private:
  // Returns the seconds of this rank.
  double take(const PipelineWork& work);
  void give(const PipelineWork& work);

  MPI_Comm communicator_;
  int rank_ = 0;
  int other_ = 0;
  const BatchComputation& computation_;
  std::vector<float> rows_;
  std::vector<std::int32_t> owners_;
};

}  // namespace lapse::bench
