// The steps that every window of one-sided access needs before it is used.
#pragma once

#include <mpi.h>

#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

// Makes errors of the window codes that are returned, demands that it has one copy of its memory, and opens
// it for passive access to all ranks until MPI_Win_unlock_all. Throws MpiError, MpiStateError.
void begin_passive_access(MPI_Win window) LAPSE_REQUIRES(mpi_role);

}  // namespace lapse
