// Time from a stage to the next one, and of iterations that are divided into stages. One slot on each rank.
//
//   case                               ranks   metric   baseline
//   transition, all slots            1, 2, 4  latency  a phase for each stage: run_workers
//   transition, from rank to rank       2, 4  latency  likewise
//   100 iterations, in 10 stages     1, 2, 4  latency  in one stage
//
// A transition: from a stage without work to the next one, including its own end; 10 runs of 500 stages. From
// rank to rank: stages with one worker, on the first and the last rank in turn. Iterations: each worker pulls
// and pushes 100 random keys of a table of 10,000 rows of 25 floats and waits for the others; 10 runs
// (FlexPS, Figure 11).
#include <mpi.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/stage/engine.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 10;
constexpr std::size_t kStages = 500;
constexpr std::size_t kRows = 10'000;
constexpr std::size_t kLength = 25;
constexpr std::size_t kBatch = 100;

Case case_of(const Bench& bench, const std::string& name) {
  return {.name = name, .metric = "latency", .unit = "us", .ranks = bench.ranks(), .workers = bench.ranks()};
}

// Microseconds of a run with this task.
double microseconds(stage::Engine& engine, stage::Task task) {
  engine.submit(std::move(task));
  const Clock::time_point begin = Clock::now();
  engine.run();
  return 1e6 * seconds_between(begin, Clock::now());
}

void measure_transitions(Bench& bench, const std::string& name, const std::vector<stage::Workers>& workers) {
  if (!bench.selected(name)) return;
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  stage::Engine engine(server, {.slots = 1});
  const std::size_t stages = bench.size(kStages, 10);
  bench.measure(
      case_of(bench, name), kRuns,
      [&] {
        stage::Task task{.repeat = stages / workers.size()};
        for (const stage::Workers& some : workers)
          task.stages.push_back(
              {.name = std::to_string(task.stages.size()), .f = [](stage::Info&) {}, .workers = some});
        return microseconds(engine, std::move(task)) / static_cast<double>(stages);
      },
      "a phase for each stage",
      [&] {
        const Clock::time_point begin = Clock::now();
        for (std::size_t i = 0; i < stages; ++i) server.run_workers(1, [](Worker&) {});
        return 1e6 * seconds_between(begin, Clock::now()) / static_cast<double>(stages);
      });
  server.close();
}

void measure_iterations(Bench& bench) {
  const std::string name = "100 iterations, in 10 stages";
  if (!bench.selected(name)) return;
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  const auto table = server.create_table<float>({.keys = kRows, .length = kLength});
  stage::Engine engine(server, {.slots = 1, .part_time = std::chrono::seconds(0)});
  const auto iterate = [&](stage::Info& info) {
    std::vector<float> rows(kBatch * kLength);
    std::vector<Key> keys(kBatch);
    for ([[maybe_unused]] const std::uint64_t iteration : info.iterations()) {
      for (Key& key : keys) key = Key(info.random().below(kRows));
      info.worker().pull(table, keys, rows).wait();
      info.worker().push(table, keys, rows).wait();
      info.worker().barrier();
    }
  };
  const auto run = [&](std::uint64_t stages) {
    return microseconds(
        engine,
        {.repeat = stages,
         .stages = {
             {.name = "iterate", .f = iterate, .workers = stage::all_slots(), .iterations = 100 / stages}}});
  };
  bench.measure(
      case_of(bench, name), kRuns, [&] { return run(10); }, "in one stage", [&] { return run(1); });
  server.close();
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time from a stage to the next one", [](Bench& bench) {
    measure_transitions(bench, "transition, all slots", {lapse::stage::all_slots()});
    if (bench.ranks() > 1) {
      measure_transitions(bench, "transition, from rank to rank",
                          {lapse::stage::Workers({{.rank = 0, .workers = 1}}),
                           lapse::stage::Workers({{.rank = bench.ranks() - 1, .workers = 1}})});
    }
    measure_iterations(bench);
  });
}
