#include "bench/neighbour_access.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/directory/domain_map.hpp"

namespace lapse::bench {

namespace {

constexpr std::uint64_t kKeys = 20'000;
constexpr std::size_t kRuns = 20;
constexpr std::size_t kAccesses = 100'000;

int ranks_on_host(MPI_Comm communicator) {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 0;
  MPI_Comm_size(host, &ranks);
  MPI_Comm_free(&host);
  return ranks;
}

// Random keys that this rank serves in the domain of both ranks.
std::vector<Key> keys_served_by(Rank rank, std::size_t count) {
  const DomainMap domains = DomainMap::of_hosts(std::vector<std::int32_t>{0, 0});
  std::vector<Key> served;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    if (domains.serving_rank(Key(key), Domain(0)) == rank) served.emplace_back(key);
  }
  std::vector<Key> drawn;
  for (const Key number : random_keys(0, served.size(), count, 0)) drawn.push_back(served[number.index()]);
  return drawn;
}

// Collective. Returns the nanoseconds of rank 0 per key, one key per call.
double access_all(ParameterServer& server, const Table<float>& table, bool push, std::span<const Key> keys) {
  double seconds = 0;
  server.run_workers(1, [&](Worker& worker) {
    worker.barrier();
    if (worker.rank() == Rank(0)) {
      std::array<float, kLength> value{};
      const Clock::time_point begin = Clock::now();
      for (const Key key : keys) {
        if (push) {
          worker.push(table, key, value);
        } else {
          worker.pull(table, key, value).wait();
          touch(&value);
        }
      }
      worker.wait_all();
      seconds = seconds_between(begin, Clock::now());
    }
    worker.barrier();
  });
  return 1e9 * seconds / static_cast<double>(keys.size());
}

}  // namespace

void measure_neighbour_access(Bench& bench) {
  const char* const names[] = {"neighbour pull", "neighbour push"};
  if (!bench.selected(names[0]) && !bench.selected(names[1])) return;
  if (!has_option("domain") || ranks_on_host(bench.plain()) != 2) {
    if (bench.rank() == 0) {
      fmt::print(
          stderr, "neighbour pull, neighbour push: left out, {}\n",
          has_option("domain") ? "the ranks are on different hosts" : "this server has no option 'domain'");
    }
    return;
  }
  Options options = quiet_options();
  options.set("domain", "host");
  ParameterServer server(MPI_COMM_WORLD, options);
  const auto table = server.create_table<float>({.name = "neighbour", .keys = kKeys, .length = kLength});
  const std::size_t accesses = bench.size(kAccesses, 1000);
  const std::vector<Key> own = keys_served_by(Rank(0), accesses);
  const std::vector<Key> other = keys_served_by(Rank(1), accesses);
  for (const bool push : {false, true}) {
    if (!bench.selected(names[push])) continue;
    bench.measure(
        {.name = names[push], .metric = "latency", .unit = "ns", .ranks = 2, .domain = domain_of(options)},
        kRuns, [&] { return access_all(server, table, push, other); }, "own keys",
        [&] { return access_all(server, table, push, own); });
  }
  const TableCounters total = server.statistics().table_total(table.id());
  server.close();
  expect_count("accesses by message", total.remote_pulls + total.remote_pushes + total.queued_accesses, 0);
}

}  // namespace lapse::bench
