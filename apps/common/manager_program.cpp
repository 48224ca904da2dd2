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

bool holds_on_any_rank(bool condition) {
  MPI_Allreduce(MPI_IN_PLACE, &condition, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
  return condition;
}

void make_manager(std::optional<adapm::Technique> technique,
                  std::optional<adapm::ParameterManager>& manager) {
  adapm::Options options;
  bool is_wrong = false;
  try {
    options = adapm::Options::from_environment();
  } catch (const ConfigurationError&) {
    is_wrong = true;
  }
  if (technique) options.technique = *technique;
  if (holds_on_any_rank(is_wrong)) {
    manager.emplace(MPI_COMM_WORLD);  // Throws on every rank, and says what is wrong on which.
  } else {
    manager.emplace(MPI_COMM_WORLD, options);
  }
}

void run_and_close(std::optional<adapm::Technique> technique,
                   const std::function<void(adapm::ParameterManager&)>& f) {
  std::optional<adapm::ParameterManager> manager;
  try {
    make_manager(technique, manager);
    f(*manager);
  } catch (const Error&) {
    if (manager) manager->close();
    throw;
  } catch (const std::bad_alloc&) {
    // The other ranks, which may have memory, would wait for this one indefinitely.
    fmt::print(stderr, "error: out of memory on rank {}\n", own_rank());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  manager->close();
}

}  // namespace

int run_manager_program(std::optional<adapm::Technique> technique,
                        const std::function<void(adapm::ParameterManager&)>& f) {
  try {
    run_and_close(technique, f);
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
