#include "bench/moved_access.hpp"

#include <span>
#include <string>
#include <vector>

#include "bench/support/joint_timer.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 10'000;
constexpr std::size_t kRuns = 20;

// Collective. Returns the seconds in which rank 0 pulls or pushes all keys, one per call.
double access_all(ParameterServer& server, const Table<float>& table, bool push, std::span<const Key> keys) {
  double seconds = 0;
  server.run_workers(1, [&](Worker& worker) {
    worker.barrier();
    if (worker.rank() == Rank(0)) {
      std::vector<float> value(kLength, 1.0F);
      const Clock::time_point begin = Clock::now();
      for (const Key key : keys) {
        if (push) {
          worker.push(table, key, value).wait();
        } else {
          worker.pull(table, key, value).wait();
        }
      }
      seconds = seconds_between(begin, Clock::now());
    }
    worker.barrier();
  });
  return seconds;
}

void measure_case(Bench& bench, const std::string& name, bool push, bool caches) {
  if (!bench.selected(name)) return;
  ParameterServer server(MPI_COMM_WORLD, separate_options());
  const std::uint64_t count = bench.size(kKeys, 10);
  // Rank 2 is the home of the last third of the keys; rank 1 localizes them.
  const auto table = server.create_table<float>({.name = "moved",
                                                 .keys = 3 * count,
                                                 .length = kLength,
                                                 .home = HomeMapKind::range,
                                                 .location_caches = caches});
  const std::vector<Key> keys = shuffled_keys(2 * count, count, 0);
  server.run_workers(1, [&](Worker& worker) {
    if (worker.rank() == Rank(1)) worker.localize(table, keys).wait();
  });
  const MessagePair messages = push ? MessagePair{kKeyBytes + kValueBytes, kKeyBytes}  //
                                    : MessagePair{kKeyBytes, kValueBytes};
  const auto nanoseconds = [&](double seconds) { return 1e9 * seconds / static_cast<double>(count); };
  bench.measure(
      {.name = name, .metric = "latency", .unit = "ns", .ranks = 3, .domain = domain_of(server.options())},
      kRuns, [&] { return nanoseconds(access_all(server, table, push, keys)); },
      caches ? "MPI ping-pong" : "MPI triangle",
      [&] {
        return nanoseconds(caches ? ping_pong(bench.plain(), count, messages)
                                  : triangle(bench.plain(), count, messages));
      });
  const TableCounters total = server.statistics().table_total(table.id());
  server.close();
  // The home forwards accesses to the owner once per key, or without caches at every access.
  expect_count("accesses forwarded by the home", total.forwarded,
               caches ? count : (bench.runs(kRuns) + 1) * count);
}

}  // namespace

void measure_moved_access(Bench& bench) {
  measure_case(bench, "moved pull", false, true);
  measure_case(bench, "moved push", true, true);
  measure_case(bench, "moved pull no caches", false, false);
  measure_case(bench, "moved push no caches", true, false);
}

}  // namespace lapse::bench
