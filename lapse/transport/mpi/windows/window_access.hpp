// The setup that every one-sided window needs before use.
#pragma once

#include <mpi.h>

#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

// Makes the window's errors return codes, requires that it has the unified memory model, and opens it for
// passive access to all ranks until MPI_Win_unlock_all. Throws MpiError, MpiStateError.
void begin_passive_access(MPI_Win window) LAPSE_REQUIRES(mpi_role);

}  // namespace lapse
