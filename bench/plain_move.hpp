// Hand-written MPI code that moves rows between two ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Both ranks have an array with space for all rows, and record the owner of each row; initially rank 1 owns
// all rows. A rank takes rows batch by batch: it sends the keys; the other rank, which waits in MPI_Recv,
// gathers their rows, records the new owner and sends the rows; on arrival the first rank copies them into
// its array and records the new owner, too.
//
// One object on each of two ranks.
class PlainMove {
 public:
  // How rows are taken.
  struct Turns {
    std::size_t count;      // in each, one of the ranks takes all rows: rank 0, rank 1, rank 0, ...; even
    std::size_t batch;      // keys in a request
    std::size_t in_flight;  // requests sent before waiting for the rows of the first
  };

  // Throws UsageError for a row length, in floats, other than 25 and 256.
  PlainMove(MPI_Comm communicator, std::uint64_t rows, std::size_t length);

  // Collective, with the same arguments on both ranks. The number of keys must be a multiple of those in
  // flight. Returns the seconds in which rows were taken, equal on both ranks, without the time between
  // turns.
  double move_all(std::span<const Key> keys, const Turns& turns);

 private:
  template <std::size_t length>
  void use_length();
  // Both handle as many keys as may be in flight at once.
  void take(std::span<const Key> keys, std::size_t batch);
  void give(std::size_t keys, std::size_t batch);
  void note_owner(std::span<const Key> keys, int rank);
  // The part of `buffer_` for the rows of a batch.
  float* rows_of(std::size_t batch_number, std::size_t batch) {
    return buffer_.data() + batch_number * batch * length_;
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int other_ = 0;
  std::size_t length_;
  std::vector<float> rows_;
  std::vector<std::int32_t> owners_;
  std::vector<float> buffer_;  // rows in flight
  std::vector<Key> asked_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
  void (*gather_)(const float* rows, std::span<const Key> keys, float* values) = nullptr;
  void (*scatter_)(float* rows, std::span<const Key> keys, const float* values) = nullptr;
};

}  // namespace lapse::bench
