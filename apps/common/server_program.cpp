#include "apps/common/server_program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

bool is_rank_0() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

void run_and_close(const std::function<void(ParameterServer&)>& f) {
  ParameterServer server{MPI_COMM_WORLD};
  try {
    f(server);
  } catch (const Error&) {
    server.close();
    throw;
  } catch (const std::bad_alloc&) {
    // The other ranks, which may have memory, would wait for this one indefinitely.
    fmt::print(stderr, "error: out of memory on rank {}\n", server.rank().value());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  server.close();
}

}  // namespace

int run_server_program(const std::function<void(ParameterServer&)>& f) {
  try {
    run_and_close(f);
    return EXIT_SUCCESS;
  } catch (const Error& error) {
    if (is_rank_0()) fmt::print(stderr, "error: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

void run_on_rank_0(ParameterServer& server, const std::function<void(Worker&)>& f) {
  server.run_workers(server.rank() == Rank{0} ? 1 : 0, f);
}

}  // namespace lapse::apps
