// A hand-written MPI exchange for programs in which every rank needs rows of all ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Each rank keeps every n-th row, of kLength floats, in an array; all ranks read or change rows at the same
// time, batch by batch.
//
// Pull: the keys of a batch are grouped by the ranks that keep their rows; MPI_Alltoall of the counts,
// MPI_Alltoallv of the keys; the rows are gathered; MPI_Alltoallv of the rows, which are put into the order
// of the caller. Push: the rows are grouped like the keys, sent after them, and added on arrival.
//
// One object on each rank.
class PlainAllToAll {
 public:
  PlainAllToAll(MPI_Comm communicator, std::uint64_t rows);

  // Collective. Keys may differ by rank; each rank has equally many, a multiple of `batch`. Returns the
  // seconds until all ranks were done.
  double pull(std::span<const Key> keys, std::size_t batch);
  double push(std::span<const Key> keys, std::size_t batch);

 private:
  // The keys from or to each rank.
  struct Parts {
    std::vector<int> counts;   // of keys
    std::vector<int> offsets;  // where a rank's keys begin
  };

  std::size_t ranks() const { return static_cast<std::size_t>(ranks_); }
  std::uint64_t row_of(Key key) const { return key.index() / ranks(); }
  static void set_offsets(Parts& parts);
  // Groups the keys, and sends them to the ranks that keep their rows. Sets every field below.
  void exchange_keys(std::span<const Key> keys);
  // Sends rows between ranks, as many as `from` and `to` count keys.
  void exchange_rows(const std::vector<float>& sent, const Parts& from, std::vector<float>& received,
                     const Parts& to) const;
  template <class F>
  double timed(std::span<const Key> keys, std::size_t batch, F&& exchange);

  MPI_Comm communicator_;
  int ranks_ = 0;
  std::vector<float> rows_;
  Parts wanted_;                // this rank's keys, by the ranks that keep their rows
  Parts asked_;                 // keys of other ranks, by rank
  std::vector<Key> grouped_;    // this rank's keys, in the order of `wanted_`
  std::vector<Key> answered_;   // keys of other ranks, in the order of `asked_`
  std::vector<int> positions_;  // of each key of the batch in `grouped_`
  std::vector<int> next_;
};

}  // namespace lapse::bench
