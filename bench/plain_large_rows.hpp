// A hand-written MPI exchange for a few large rows that another rank keeps.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Rank 1 keeps rows of floats in an array. Rank 0 reads or changes them, batch by batch, and waits for each
// batch. Each row is a separate message, so that only MPI copies it.
//
// Pull: rank 0 sends the keys; rank 1 sends the rows from their place, and rank 0 receives them in place.
// Push: rank 0 sends the keys and then its rows; rank 1 adds each on arrival, and finally sends an empty
// message.
//
// One object on each of two ranks.
class PlainLargeRows {
 public:
  // The rows of `rows` keys from `first` on.
  PlainLargeRows(MPI_Comm communicator, std::uint64_t first, std::uint64_t rows, std::size_t length);

  // Collective, with the same arguments on both ranks. The number of keys must be a multiple of `batch`.
  // Returns the seconds of rank 0 for all keys, and on rank 1 the seconds in which it answered.
  double pull(std::span<const Key> keys, std::size_t batch);
  double push(std::span<const Key> keys, std::size_t batch);

 private:
  float* row(Key key) { return rows_.data() + (key.index() - first_) * length_; }

  MPI_Comm communicator_;
  int rank_ = 0;
  std::uint64_t first_;
  std::size_t length_;
  std::vector<float> rows_;  // of rank 1
};

}  // namespace lapse::bench
