// Collective MPI calls that keep the MPI lock free while they wait for other ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "lapse/transport/mpi/lock.hpp"

namespace lapse {

// Waits until the request is complete; takes the lock for each test only and gives way to other threads and
// processes. `call` names the MPI call that began the request. Throws MpiError.
void wait_polled(MpiLock& lock, MPI_Request& request, const char* call) LAPSE_EXCLUDES(mpi_role);

// Collective over `communicator`. All ranks have arrived when it returns.
void barrier_polled(MpiLock& lock, MPI_Comm communicator) LAPSE_EXCLUDES(mpi_role);

// Collective over `communicator`. The byte string of each rank, in rank order. Throws UsageError, on every
// rank, when all of them together exceed 2 GiB - 1.
std::vector<std::vector<std::byte>> all_gather_polled(MpiLock& lock, MPI_Comm communicator,
                                                      std::span<const std::byte> mine)
    LAPSE_EXCLUDES(mpi_role);

}  // namespace lapse
