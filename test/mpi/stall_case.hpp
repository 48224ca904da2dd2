// A program whose ranks wait too long. Each run makes one case.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"

namespace lapse::test {

struct Job {
  Rank rank;
  std::int32_t ranks = 1;
  std::vector<int> processes;  // by rank
};

inline void stop_here() {
  raise(SIGSTOP);
}
// Waits until rank 0 sends the signal, with the process running.
inline void idle_here() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  int signal = 0;
  sigwait(&signals, &signal);
}

inline Options options(DomainChoice domain) {
  Options options;
  options.stall_report = std::chrono::seconds(1);
  options.startup_report = false;
  options.domain = domain;
  return options;
}

inline const DomainChoice kRanksAlone{DomainChoice::Kind::rank, 1};

inline std::string process_of(const Job& job, int rank) {
  return "rank " + std::to_string(rank) + ", process " +
         std::to_string(job.processes[static_cast<std::size_t>(rank)]) + " on ";
}

// Runs the case that the first argument names. Returns 1 if it throws.
inline int run_stall_case(int argc, char** argv,
                          const std::map<std::string_view, std::function<void(const Job&)>>& cases) {
  // Threads that MPI starts block the signal, too.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int status = 0;
  try {
    Job job;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    job.rank = Rank(rank);
    job.processes.resize(static_cast<std::size_t>(job.ranks));
    const int own = getpid();
    MPI_Allgather(&own, 1, MPI_INT, job.processes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const auto found = cases.find(argc > 1 ? argv[1] : "");
    if (found == cases.end()) throw std::runtime_error("an unknown case");
    found->second(job);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "failed: %s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}

}  // namespace lapse::test
