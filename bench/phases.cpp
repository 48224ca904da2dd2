// Time of an empty phase: the cost of run_workers itself, including the agreement at its start and the proof
// of quiet at its end. 2 ranks with one worker each; 20 runs of 100 phases.
//
//   case               ranks  metric   baseline
//   empty run_workers    2    latency  a thread started and joined, an MPI_Barrier before and after
#include <mpi.h>

#include <thread>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 20;
constexpr std::size_t kPhases = 100;

// Microseconds for each call of phase().
template <class F>
double microseconds(std::size_t phases, F&& phase) {
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < phases; ++i) phase();
  return 1e6 * seconds_between(begin, Clock::now()) / static_cast<double>(phases);
}

void measure_phases(Bench& bench) {
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  const std::size_t phases = bench.size(kPhases, 5);
  bench.measure(
      {.name = "empty run_workers",
       .metric = "latency",
       .unit = "us",
       .ranks = bench.ranks(),
       .workers = bench.ranks()},
      kRuns, [&] { return microseconds(phases, [&] { server.run_workers(1, [](Worker&) {}); }); },
      "thread between MPI barriers",
      [&] {
        return microseconds(phases, [&] {
          MPI_Barrier(bench.plain());
          std::thread([] {}).join();
          MPI_Barrier(bench.plain());
        });
      });
  server.close();
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time of an empty phase", &measure_phases);
}
