// Time of an empty phase, and of an empty step of a bulk-synchronous program within a phase. One worker on
// each rank.
//
//   case                               ranks   metric   baseline
//   empty run_workers                    2     latency  a thread started and joined between two MPI_Barrier
//   sync_barrier                      2, 3, 4  latency  MPI_Barrier
//   sync_barrier, no shared memory    2, 3, 4  latency  MPI_Barrier
//   tcp sync_barrier                     2     latency  MPI_Barrier
//   clock bsp                         2, 3, 4  latency  MPI_Barrier
//   clock bsp, no shared memory       2, 3, 4  latency  MPI_Barrier
//   clock cap(1), no shared memory    2, 3, 4  latency  MPI_Barrier
//   clock essp(0), no shared memory   2, 3, 4  latency  MPI_Barrier
//   clock essp(1), no shared memory   2, 3, 4  latency  MPI_Barrier
//
// A phase: run_workers itself, including the agreement at its start and the proof of quiet at its end; 20
// runs of 100 phases. A step: a sync_barrier after which every rank knows that nothing is in flight, while
// nothing is; 20 runs of 1,000 in one phase. A clock: each worker pushes to a key of its own, pulls that of
// the next worker, and advances its clock; the table has no replicas, but may have some.
#include <mpi.h>

#include <string>
#include <thread>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/hosts.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 20;
constexpr std::size_t kPhases = 100;
constexpr std::size_t kSteps = 1000;

// Microseconds for each call of phase().
template <class F>
double microseconds(std::size_t phases, F&& phase) {
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < phases; ++i) phase();
  return 1e6 * seconds_between(begin, Clock::now()) / static_cast<double>(phases);
}

void measure_phases(Bench& bench) {
  if (bench.ranks() != 2 || !bench.selected("empty run_workers")) return;
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

// Steps within a phase. make_table(server) is called once; make_step(worker, table) on each worker, returns
// the function of a step.
template <class MakeTable, class MakeStep>
void measure_within_phase(Bench& bench, const std::string& name, const Options& options,
                          MakeTable&& make_table, MakeStep&& make_step) {
  if (bench.ranks() < 2 || !bench.selected(name)) return;
  ParameterServer server(MPI_COMM_WORLD, options);
  const auto table = make_table(server);
  const std::size_t steps = bench.size(kSteps, 10);
  bench.measure(
      {.name = name,
       .metric = "latency",
       .unit = "us",
       .ranks = bench.ranks(),
       .workers = bench.ranks(),
       .domain = domain_of(options)},
      kRuns,
      [&] {
        double time = 0;
        server.run_workers(1, [&](Worker& worker) {
          auto step = make_step(worker, table);
          worker.barrier();
          time = microseconds(steps, step);
        });
        return time;
      },
      "MPI_Barrier",
      [&] {
        MPI_Barrier(bench.plain());
        return microseconds(steps, [&] { MPI_Barrier(bench.plain()); });
      });
  server.close();
}

void measure_steps(Bench& bench, const std::string& name, const Options& options) {
  measure_within_phase(
      bench, name, options, [](ParameterServer&) { return Table<float>(); },
      [](Worker& worker, const Table<float>&) { return [&worker] { worker.sync_barrier(); }; });
}

void measure_clocks(Bench& bench, const std::string& name, Consistency consistency, const Options& options) {
  measure_within_phase(
      bench, name, options,
      [&](ParameterServer& server) {
        return server.create_table<float>({.keys = 64, .length = 8, .consistency = consistency});
      },
      [](Worker& worker, const Table<float>& table) {
        const Key own(worker.index());
        worker.localize(table, own).wait();
        return [&worker, table, own, next = Key((worker.index() + 1) % worker.count()),
                update = std::vector<float>(8, 1.0F), value = std::vector<float>(8)]() mutable {
          worker.push(table, own, update);
          worker.pull(table, next, value).wait();
          worker.advance_clock();
        };
      });
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time of an empty phase, and of an empty step in it", [](Bench& bench) {
    if (on_different_hosts(bench.plain())) return measure_steps(bench, "tcp sync_barrier", quiet_options());
    measure_phases(bench);
    measure_steps(bench, "sync_barrier", quiet_options());
    measure_steps(bench, "sync_barrier, no shared memory", separate_options());
    measure_clocks(bench, "clock bsp", lapse::Consistency::bsp, quiet_options());
    measure_clocks(bench, "clock bsp, no shared memory", lapse::Consistency::bsp, separate_options());
    measure_clocks(bench, "clock cap(1), no shared memory", lapse::Consistency::cap(1), separate_options());
    measure_clocks(bench, "clock essp(0), no shared memory", lapse::Consistency::essp(0), separate_options());
    measure_clocks(bench, "clock essp(1), no shared memory", lapse::Consistency::essp(1), separate_options());
  });
}
