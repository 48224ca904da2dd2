#include "apps/common/server_program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>

#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void run_and_close(const std::function<void(ParameterServer&)>& f) {
  std::optional<ParameterServer> server;
  try {
    server.emplace(MPI_COMM_WORLD);
    f(*server);
  } catch (const Error&) {
    if (server) server->close();
    throw;
  } catch (const std::bad_alloc&) {
    // The other ranks, which may have memory, would wait for this one indefinitely.
    fmt::print(stderr, "error: out of memory on rank {}\n", own_rank());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  server->close();
}

}  // namespace

int run_server_program(const std::function<void(ParameterServer&)>& f) {
  try {
    run_and_close(f);
    return EXIT_SUCCESS;
  } catch (const Error& error) {
    if (own_rank() == 0) fmt::print(stderr, "error: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

void run_on_rank_0(ParameterServer& server, const std::function<void(Worker&)>& f) {
  server.run_workers(server.rank() == Rank{0} ? 1 : 0, f);
}

}  // namespace lapse::apps
