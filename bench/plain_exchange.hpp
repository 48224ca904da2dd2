// A hand-written MPI exchange for rows that another rank keeps.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Rank 1 keeps rows of kLength floats in an array. Rank 0 reads or changes them, batch by batch, and waits
// for each batch, while rank 1 waits in MPI_Recv.
//
// Pull: rank 0 sends the keys; rank 1 gathers their rows and sends them. Push: rank 0 sends the keys and then
// the updates; rank 1 adds them to the rows and sends an empty message.
//
// One object on each of two ranks.
class PlainExchange {
 public:
  // The rows of `rows` keys from `first` on.
  PlainExchange(MPI_Comm communicator, std::uint64_t first, std::uint64_t rows);

  // Collective, with the same arguments on both ranks. The number of keys must be a multiple of `batch`.
  // Returns the seconds of rank 0 for all keys, and on rank 1 the seconds in which it answered.
  double pull(std::span<const Key> keys, std::size_t batch);
  double push(std::span<const Key> keys, std::size_t batch);

 private:
  std::uint64_t row_of(Key key) const { return key.index() - first_; }

  MPI_Comm communicator_;
  int rank_ = 0;
  std::uint64_t first_;
  std::vector<float> rows_;  // of rank 1
};

}  // namespace lapse::bench
