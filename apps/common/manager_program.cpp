#include "apps/common/manager_program.hpp"

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

void run_and_close(std::optional<adapm::Technique> technique, const ManagerSettings& settings,
                   const std::function<void(adapm::ParameterManager&)>& f) {
  std::optional<adapm::ParameterManager> manager;
  try {
    OptionSources sources = settings.sources();
    if (technique) {
      sources.assignments.push_back({.name = "adapm.technique",
                                     .value = std::string(adapm::to_string(*technique)),
                                     .place = "--technique"});
    }
    manager.emplace(MPI_COMM_WORLD, sources);
    f(*manager);
  } catch (const Error&) {
    if (manager) manager->close();
    throw;
  } catch (const std::bad_alloc&) {
    // The other ranks may have memory, and would wait for this rank indefinitely.
    fmt::print(stderr, "error: out of memory on rank {}\n", own_rank());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  manager->close();
}

}  // namespace

int run_manager_program(std::optional<adapm::Technique> technique, const ManagerSettings& settings,
                        const std::function<void(adapm::ParameterManager&)>& f) {
  try {
    run_and_close(technique, settings, f);
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
