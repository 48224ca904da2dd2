#include "lapse/transport/mpi/library/communicator.hpp"

#include <array>
#include <cstddef>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/library_of_build.hpp"

namespace lapse {

int usable_thread_level() {
  require_usable_library();
  mpi_role.assert_held();  // If MPI can be used, the caller guarantees that no other thread is inside.
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  int is_main = 1;
  check_mpi(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (level < MPI_THREAD_SERIALIZED && is_main == 0) {
    throw MpiStateError(
        "a server is made by another thread than the one that initialised MPI: with a thread level below "
        "MPI_THREAD_SERIALIZED only that thread may call MPI");
  }
  return level;
}

MpiCommunicator::MpiCommunicator(MPI_Comm users, const MakingReport& report)
    : thread_level_(usable_thread_level()), lock_(&MpiLock::of_process()) {
  duplicate(users, report);
  find_host();
  job_.first_server = lock_->attach();
}

MpiCommunicator::~MpiCommunicator() {
  if (communicator_ != MPI_COMM_NULL) lock_->detach();
}

void MpiCommunicator::free() {
  check_mpi(MPI_Comm_free(&host_), "MPI_Comm_free");
  check_mpi(MPI_Comm_free(&communicator_), "MPI_Comm_free");
  lock_->detach();
}

void MpiCommunicator::duplicate(MPI_Comm users, const MakingReport& report) {
  if (users == MPI_COMM_NULL) throw MpiStateError("the communicator is MPI_COMM_NULL");
  int rank = 0;
  {
    const MpiGuard guard(*lock_);
    int inter = 0;
    check_mpi(MPI_Comm_test_inter(users, &inter), "MPI_Comm_test_inter");
    if (inter)
      throw MpiStateError("the communicator is an intercommunicator: an intracommunicator is needed");
    check_mpi(MPI_Comm_rank(users, &rank), "MPI_Comm_rank");
  }
  // The call below waits for the other ranks while holding the lock: let them arrive first.
  barrier_polled(*lock_, users, report.by(Rank{rank}));
  const MpiGuard guard(*lock_);
  // Without the application's hints, which MPI_Comm_dup copies in some libraries: it may have promised to use
  // no wildcards, or allowed messages to overtake each other.
  check_mpi(MPI_Comm_dup_with_info(users, MPI_INFO_NULL, &communicator_), "MPI_Comm_dup_with_info");
  check_mpi(MPI_Comm_set_name(communicator_, "lapse"), "MPI_Comm_set_name");
  check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_size(communicator_, &ranks_), "MPI_Comm_size");
  rank_ = Rank{rank};
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &job_.ranks), "MPI_Comm_size");
  job_.rank = Rank{rank};
}

void MpiCommunicator::find_host() {
  barrier_polled(*lock_, communicator_);
  const MpiGuard guard(*lock_);
  check_mpi(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_.value(), MPI_INFO_NULL, &host_),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_set_name(host_, "lapse host"), "MPI_Comm_set_name");
  check_mpi(MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_size(host_, &host_ranks_), "MPI_Comm_size");
  std::int32_t lowest = rank_.value();
  check_mpi(MPI_Bcast(&lowest, 1, MPI_INT32_T, 0, host_), "MPI_Bcast");
  hosts_.resize(static_cast<std::size_t>(ranks_));
  check_mpi(MPI_Allgather(&lowest, 1, MPI_INT32_T, hosts_.data(), 1, MPI_INT32_T, communicator_),
            "MPI_Allgather");
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  host_name_.assign(name.data(), static_cast<std::size_t>(length));
}

}  // namespace lapse
