#include "apps/common/mpi_session.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <limits>

#include "apps/common/held_signals.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "lapse/transport/mpi/library/shared_options_file.hpp"

namespace lapse::apps {

namespace {

// If the caller has closed standard descriptors, MPI's connections would get their numbers, and the program
// would read from them.
GivenDescriptors open_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) break;
  }
  return {};
}

}  // namespace

// A failing call ends the job, because no error handler is set yet. The server reports a thread level that is
// too low.
MpiSession::MpiSession(int& argument_count, char**& arguments) : given_descriptors_(open_standard_streams()) {
  hold_signals();
  prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &host_ranks_);
  MPI_Comm_free(&host);
  options_file_ = shared_options_file(MPI_COMM_WORLD);
}

std::optional<std::int32_t> MpiSession::lowest_rank_where(bool condition) const {
  constexpr int kNone = std::numeric_limits<int>::max();
  const int mine = condition ? rank_ : kNone;
  int lowest = kNone;
  MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (lowest == kNone) return std::nullopt;
  return lowest;
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

}  // namespace lapse::apps
