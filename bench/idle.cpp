// Cost of the server while workers compute and never call it. 2 ranks with one worker each; 10 runs of 80
// million arithmetic steps.
//
//   case             ranks  metric   baseline
//   computing          2    latency  the same steps in a thread of each rank, without a server; ms
//   progress thread    2    share    none   CPU time of the thread that drives the rank's communication
//
// Both are measured on rank 0. The share is a percentage of the time of the phase, including the agreement at
// its start and the proof of quiet at its end.
#include <mpi.h>

#include <ctime>
#include <thread>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 10;
constexpr std::size_t kSteps = 80'000'000;

// CPU time of the calling thread.
double cpu_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns milliseconds. Each step depends on the one before.
double compute(std::size_t steps) {
  const Clock::time_point begin = Clock::now();
  double value = 0;
  for (std::size_t step = 0; step < steps; ++step) value = value * 0.5 + 1;
  touch(&value);
  return 1e3 * seconds_between(begin, Clock::now());
}

// Collective. Returns milliseconds.
double compute_without_server(MPI_Comm communicator, std::size_t steps) {
  double milliseconds = 0;
  MPI_Barrier(communicator);
  std::jthread([&] { milliseconds = compute(steps); }).join();
  MPI_Barrier(communicator);
  return milliseconds;
}

void measure_idle(Bench& bench) {
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  const std::size_t steps = bench.size(kSteps, 1'000'000);
  Series computing;
  Series shares;
  for (std::size_t run = 0; run <= bench.runs(kRuns); ++run) {
    double milliseconds = 0;
    const Clock::time_point begin = Clock::now();
    const double cpu_before = cpu_seconds();
    server.run_workers(1, [&](Worker& worker) {
      worker.barrier();
      milliseconds = compute(steps);
    });
    const double share = (cpu_seconds() - cpu_before) / seconds_between(begin, Clock::now());
    const double plain = bench.baselines() ? compute_without_server(bench.plain(), steps) : 0;
    if (run == 0) continue;  // to warm up
    computing.values.push_back(milliseconds);
    if (bench.baselines()) computing.baselines.push_back(plain);
    shares.values.push_back(100 * share);
  }
  if (bench.selected("computing")) {
    bench.add({.name = "computing",
               .metric = "latency",
               .unit = "ms",
               .ranks = bench.ranks(),
               .workers = bench.ranks()},
              "no server", computing);
  }
  if (bench.selected("progress thread")) {
    bench.add({.name = "progress thread",
               .metric = "share",
               .unit = "%",
               .ranks = bench.ranks(),
               .workers = bench.ranks()},
              "", shares);
  }
  server.close();
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "What the server costs while workers compute", &measure_idle);
}
