#include "bench/relocation_fights.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <span>
#include <string>
#include <vector>

#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kHotKeys = 100;
constexpr std::size_t kRuns = 10;

struct FightCase {
  std::size_t batch;  // keys in a call
  std::size_t calls;  // of each rank in a run
};

constexpr FightCase kCases[] = {{1, 5'000}, {10, 2'000}};

// Collective. Returns the seconds, from the first start to the last end, in which the workers of all ranks
// localize their keys, batch by batch.
double fight(const Bench& bench, ParameterServer& server, const Table<float>& table,
             std::span<const Key> keys, std::size_t batch) {
  double seconds = 0;
  server.run_workers(1, [&](Worker& worker) {
    worker.barrier();
    const Clock::time_point begin = Clock::now();
    for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(batch)) {
      worker.localize(table, left.first(batch)).wait();
    }
    worker.barrier();
    seconds = seconds_between(begin, Clock::now());
  });
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, bench.plain());
  return seconds;
}

}  // namespace

void measure_fights(Bench& bench) {
  ParameterServer server(MPI_COMM_WORLD, separate_options());
  const auto table = server.create_table<float>({.name = "hot", .keys = kHotKeys, .length = kLength});
  for (const FightCase& what : kCases) {
    const std::string name = fmt::format("{} ranks fighting batch {}", bench.ranks(), what.batch);
    if (!bench.selected(name)) continue;
    const std::vector<Key> keys = random_keys(0, kHotKeys, what.batch * bench.size(what.calls, 200),
                                              static_cast<std::uint64_t>(bench.rank()));
    Series series;
    for (std::size_t run = 0; run <= bench.runs(kRuns); ++run) {
      const std::uint64_t before = server.statistics().table_total(table.id()).relocations_in;
      const double seconds = fight(bench, server, table, keys, what.batch);
      const std::uint64_t after = server.statistics().table_total(table.id()).relocations_in;
      // The first run is for warm-up.
      if (run != 0) series.values.push_back(static_cast<double>(after - before) / seconds);
    }
    bench.add({.name = name,
               .metric = "rate",
               .unit = "keys/s",
               .ranks = bench.ranks(),
               .workers = bench.ranks(),
               .domain = domain_of(server.options())},
              "", series);
  }
  server.close();
}

}  // namespace lapse::bench
