// Whether a benchmark runs on several hosts.
#pragma once

#include <mpi.h>

namespace lapse::bench {

// Collective. Whether no two ranks of the communicator share memory.
inline bool on_different_hosts(MPI_Comm communicator) {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int neighbours = 0;
  MPI_Comm_size(host, &neighbours);
  MPI_Comm_free(&host);
  MPI_Allreduce(MPI_IN_PLACE, &neighbours, 1, MPI_INT, MPI_MAX, communicator);
  return neighbours == 1;
}

}  // namespace lapse::bench
