#include "lapse/transport/mpi/library/shared_options_file.hpp"

#include <cstddef>
#include <vector>

#include "lapse/core/bytes.hpp"
#include "lapse/transport/mpi/library/collectives.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"
#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/library_of_build.hpp"
#include "lapse/transport/mpi/library/making_report.hpp"

namespace lapse {

namespace {

// Whether ranks can communicate through it.
bool is_usable(MPI_Comm communicator) {
  mpi_role.assert_held();  // If MPI can be used, the caller guarantees that no other thread is inside.
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized && communicator != MPI_COMM_NULL;
}

// The rank if this is an intracommunicator; nullopt otherwise.
int rank_of(MpiLock& lock, MPI_Comm communicator) {
  const MpiGuard guard(lock);
  int inter = 0;
  check_mpi(MPI_Comm_test_inter(communicator, &inter), "MPI_Comm_test_inter");
  if (inter) return MPI_PROC_NULL;
  int rank = 0;
  check_mpi(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return rank;
}

}  // namespace

OptionsFile shared_options_file(MPI_Comm communicator) {
  require_library_of_build();
  MpiLock::refuse_application_thread("the making of a server");
  if (!is_usable(communicator)) return {};
  usable_thread_level();
  MpiLock& lock = MpiLock::of_process();
  const int rank = rank_of(lock, communicator);
  if (rank == MPI_PROC_NULL) return {};
  std::vector<std::byte> mine;
  if (rank == 0) {
    const OptionsFile file = OptionsFile::read_named();
    ByteWriter writer(mine);
    for (const std::string* const part : {&file.path, &file.text, &file.problem}) writer.write_string(*part);
  }
  const auto all =
      all_gather_polled(lock, communicator, mine, MakingReport::from_environment().by(Rank(rank)));
  ByteReader reader(all[0], "file of options");
  OptionsFile file;
  for (std::string* const part : {&file.path, &file.text, &file.problem}) *part = reader.read_string();
  return file;
}

}  // namespace lapse
