#include "bench/all_ranks_access.hpp"

#include <span>
#include <string>
#include <vector>

#include "bench/plain_all_to_all.hpp"
#include "bench/plain_loops.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 100'000;
constexpr std::size_t kBatch = 4'000;
constexpr std::size_t kCalls = 40;  // of each rank in a run
constexpr std::size_t kRuns = 20;

// Collective. Returns the seconds until all ranks have pulled or pushed their keys, waiting for each call.
double access_all(ParameterServer& server, const Table<float>& table, bool push, std::span<const Key> keys) {
  double seconds = 0;
  server.run_workers(1, [&](Worker& worker) {
    std::vector<float> values(kBatch * kLength, 1.0F);
    worker.barrier();
    const Clock::time_point begin = Clock::now();
    for (std::span<const Key> left = keys; !left.empty(); left = left.subspan(kBatch)) {
      if (push) {
        renew_updates(values);
        worker.push(table, left.first(kBatch), values).wait();
      } else {
        worker.pull(table, left.first(kBatch), values).wait();
      }
    }
    worker.barrier();
    seconds = seconds_between(begin, Clock::now());
  });
  return seconds;
}

}  // namespace

void measure_all_ranks_access(Bench& bench) {
  const std::string names[] = {"all ranks pull batch 4000", "all ranks push batch 4000"};
  if (!bench.selected(names[0]) && !bench.selected(names[1])) return;
  ParameterServer server(MPI_COMM_WORLD, separate_options());
  const auto table = server.create_table<float>({.name = "access", .keys = kKeys, .length = kLength});
  PlainAllToAll plain(bench.plain(), kKeys);
  const std::vector<Key> keys =
      random_keys(0, kKeys, kBatch * bench.size(kCalls, 2), static_cast<std::uint64_t>(bench.rank()));
  const std::size_t accesses = keys.size() * static_cast<std::size_t>(bench.ranks());
  const auto rate = [&](double seconds) { return static_cast<double>(accesses) / seconds; };
  std::uint64_t expected = 0;
  for (const bool push : {false, true}) {
    if (!bench.selected(names[push])) continue;
    bench.measure(
        {.name = names[push],
         .metric = "rate",
         .unit = "keys/s",
         .ranks = bench.ranks(),
         .workers = bench.ranks(),
         .domain = domain_of(server.options())},
        kRuns, [&] { return rate(access_all(server, table, push, keys)); }, "MPI_Alltoallv by hand",
        [&] { return rate(push ? plain.push(keys, kBatch) : plain.pull(keys, kBatch)); });
    expected += (bench.runs(kRuns) + 1) * accesses;
  }
  const TableCounters total = server.statistics().table_total(table.id());
  server.close();
  expect_count("accesses of all ranks",
               total.local_pulls + total.local_pushes + total.remote_pulls + total.remote_pushes, expected);
}

}  // namespace lapse::bench
