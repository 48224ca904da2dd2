#include "lapse/transport/mpi/windows/shared_memory.hpp"

#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"

namespace lapse {

void MpiSharedMemory::join_group(std::int32_t group) {
  barrier_polled(communicator_.lock(), communicator_.get());
  const MpiGuard guard(communicator_.lock());
  check_mpi(MPI_Comm_split(communicator_.get(), group, communicator_.rank().value(), &group_),
            "MPI_Comm_split");
  check_mpi(MPI_Comm_set_name(group_, "lapse domain"), "MPI_Comm_set_name");
  check_mpi(MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  windows_.emplace(group_, communicator_.lock());
}

void MpiSharedMemory::free() {
  if (!windows_) return;
  windows_->free();
  const MpiGuard guard(communicator_.lock());
  check_mpi(MPI_Comm_free(&group_), "MPI_Comm_free");
}

}  // namespace lapse
