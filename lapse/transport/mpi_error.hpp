// MPI's return codes as exceptions: no failing MPI call goes unnoticed, in release builds neither.
#pragma once

#include <mpi.h>

namespace lapse {

// Throws MpiError naming the call and MPI's own text for the code. The caller holds the MPI lock.
[[noreturn]] void throw_mpi_error(int code, const char* call);

inline void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]] {
    throw_mpi_error(code, call);
  }
}

}  // namespace lapse
