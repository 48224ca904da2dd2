#include "lapse/transport/mpi/windows/window_access.hpp"

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/error.hpp"

namespace lapse {

void begin_passive_access(MPI_Win window) {
  check_mpi(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  int* model = nullptr;
  int has_model = 0;
  check_mpi(MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &has_model), "MPI_Win_get_attr");
  if (!has_model || *model != MPI_WIN_UNIFIED)
    throw MpiStateError("the MPI library keeps separate copies of windows (not MPI_WIN_UNIFIED)");
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
}

}  // namespace lapse
