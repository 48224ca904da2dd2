// MPI's return codes as exceptions: no failing MPI call goes unnoticed, not even in release builds.
#pragma once

#include <mpi.h>

#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

// Throws MpiError naming the call and MPI's own message for the code.
[[noreturn]] void throw_mpi_error(int code, const char* call) LAPSE_REQUIRES(mpi_role);

inline void check_mpi(int code, const char* call) LAPSE_REQUIRES(mpi_role) {
  if (code != MPI_SUCCESS) [[unlikely]] {
    throw_mpi_error(code, call);
  }
}

}  // namespace lapse
