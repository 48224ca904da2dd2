// What one writes by hand with MPI for a few large rows that another rank keeps.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Rank 1 keeps rows of floats in an array, rank 0 reads or changes them, batch by batch, and waits for each
// batch. Each row is a message of its own, so that neither rank copies it beside MPI.
//
// Pull: rank 0 sends the keys; rank 1 sends the rows from where they are, into those of rank 0. Push: rank 0
// sends the keys and then its rows; rank 1 adds each that has come, and sends an empty message in the end.
//
// One object on each of two ranks.
class PlainLargeRows {
 public:
  // The rows of `rows` keys from `first` on.
  PlainLargeRows(MPI_Comm communicator, std::uint64_t first, std::uint64_t rows, std::size_t length);

  // Collective, with the same arguments on both ranks. The number of keys is a multiple of `batch`. Returns
  // the seconds of rank 0 for all keys, on rank 1 those in which it answered.
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
