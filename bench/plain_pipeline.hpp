// A hand-written MPI program that computes a batch while rows of later batches are on their way.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/batch_computation.hpp"
#include "lapse/core/types.hpp"

namespace lapse::bench {

// What a rank does in a pipeline. The number of keys is a multiple of `batch`.
struct PipelineWork {
  std::span<const Key> keys;
  std::size_t batch;  // keys
  std::size_t ahead;  // batches in flight while one is computed
};

// Rank 1 keeps rows of kLength floats in an array. Rank 0 computes: it waits for the rows of a batch,
// computes their updates, and sends these in one message with the keys of the batch that is `ahead` + 1
// batches later. Rank 1 adds the updates to the rows of the keys that it received before, and sends the rows
// of the new keys; at the end it sends an empty message. No other message is acknowledged. Receives are
// posted in advance, and requests are persistent.
//
// One object on each of two ranks.
class PlainPipeline {
 public:
  // The rows of `rows` keys from `first` on.
  PlainPipeline(MPI_Comm communicator, std::uint64_t first, std::uint64_t rows,
                const BatchComputation& computation);

  // Collective, with the same work on both ranks. Returns the seconds of rank 0, and 0 on rank 1.
  double run(const PipelineWork& work);

  // The sum of all values that this rank keeps.
  double sum() const;

 private:
  double compute_all(const PipelineWork& work);
  void serve_all(const PipelineWork& work);
  std::uint64_t row_of(Key key) const { return key.index() - first_; }

  MPI_Comm communicator_;
  int rank_ = 0;
  std::uint64_t first_;
  const BatchComputation& computation_;
  std::vector<float> rows_;  // of rank 1
};

}  // namespace lapse::bench
