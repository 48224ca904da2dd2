// Random workloads over MPI, checked by the histories of all workers.
#include <mpi.h>

#include <optional>
#include <utility>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/support/catch.hpp"
#include "test/support/random_workload_server.hpp"
#include "test/support/stops_now_and_then.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::size_t ranks_of_world() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return static_cast<std::size_t>(ranks);
}

// Collective. Returns the histories of all ranks, on rank 0.
ServerHistory gather(const ServerHistory& mine) {
  const std::vector<std::int64_t> numbers = mine.encode();
  const int count = static_cast<int>(numbers.size());
  std::vector<int> counts(ranks_of_world());
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> offsets;
  int total = 0;
  for (const int one : counts) {
    offsets.push_back(total);
    total += one;
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(total));
  MPI_Gatherv(numbers.data(), count, MPI_INT64_T, all.data(), counts.data(), offsets.data(), MPI_INT64_T, 0,
              MPI_COMM_WORLD);
  ServerHistory history;
  if (rank_of_world() != 0) return history;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    history.append(ServerHistory::decode(std::span(all).subspan(static_cast<std::size_t>(offsets[rank]),
                                                                static_cast<std::size_t>(counts[rank]))));
  }
  return history;
}

// Collective. `workload.workers` is repeated to the number of ranks.
void run(ServerWorkload workload, Options options) {
  options.startup_report = false;
  options.log_level = LogLevel::warning;
  const Options from_environment = Options::from_environment();
  options.rma = from_environment.rma;
  options.domain = from_environment.domain;
  const std::vector<std::int32_t> pattern = std::exchange(workload.workers, {});
  for (std::size_t rank = 0; rank < ranks_of_world(); ++rank) {
    workload.workers.push_back(pattern[rank % pattern.size()]);
  }
  ParameterServer server(MPI_COMM_WORLD, options);
  ServerWorkloadRun run(server, workload);
  run.run();
  run.pull_final_values();
  const TableCounters counters = server.statistics().table_total(TableId(0));
  server.close();
  const ServerHistory all = gather(run.history());
  if (rank_of_world() == 0) CHECK_NOTHROW(run.check(all));
  CHECK(counters.local_pulls > 0);
  const DomainMap domains = domains_of_world(options);
  if (workload.sparse ? ranks_of_world() == 1 : domains.domains() == 1) return;
  CHECK(counters.relocations_in > 0);
  CHECK(counters.remote_pulls + counters.remote_pushes > 0);
}

}  // namespace

TEST_CASE("history: several workers on each rank with and without caches") {
  for (const bool caches : {true, false}) {
    Options options = Options::from_environment();
    options.location_caches = caches;
    run({.seed = 1, .workers = {2}, .calls = 400}, options);
    run({.seed = 2, .workers = {2, 1, 3}, .calls = 400, .keys = 2, .home = HomeMapKind::custom}, options);
  }
}

TEST_CASE("history: ranks without workers") {
  run({.seed = 3, .workers = {3, 0}, .calls = 400}, Options::from_environment());
  run({.seed = 4, .workers = {2, 0, 0, 1}, .calls = 400, .home = HomeMapKind::range},
      Options::from_environment());
}

TEST_CASE("history: values larger than any buffer") {
  // Announced first and received directly: they must keep their order among small messages.
  Options options = Options::from_environment();
  for (const bool caches : {true, false}) {
    options.location_caches = caches;
    run({.seed = 5, .workers = {2, 1}, .phases = 1, .calls = 150, .keys = 3, .large_length = 10'000},
        options);
  }
  // Every packet is larger than the buffers.
  options.eager_bytes = 256;
  options.eager_buffers = 4;
  run({.seed = 6, .workers = {1, 2}, .phases = 1, .calls = 150, .keys = 3, .large_length = 10'000}, options);
}

TEST_CASE("history: little room for unanswered operations") {
  Options options = Options::from_environment();
  options.max_outstanding_operations = 1;
  run({.seed = 7, .workers = {2}, .phases = 1, .calls = 200}, options);
}

TEST_CASE("history: sparse tables and values with lengths of their own") {
  for (const bool sparse : {true, false}) {
    run({.seed = 8, .workers = {2, 1, 3}, .calls = 300, .sparse = sparse, .own_lengths = true},
        Options::from_environment());
    run({.seed = 9, .workers = {2}, .calls = 300, .keys = 40, .sparse = sparse, .own_lengths = true},
        Options::from_environment());
  }
}

TEST_CASE("history: operations on many keys beside single ones, from rows that change behind the call") {
  for (const std::uint64_t keys : {std::uint64_t{12}, std::uint64_t{150}}) {
    run({.seed = 10, .workers = {2, 3}, .phases = 1, .calls = 80, .keys = keys, .bulk = 0.5},
        Options::from_environment());
  }
}

TEST_CASE("history: keys that are set while others push") {
  run({.seed = 11, .workers = {2, 1}, .phases = 1, .calls = 300, .keys = 4, .resets = true},
      Options::from_environment());
}

TEST_CASE("history: keys that are wanted") {
  for (const bool gradients : {true, false}) {
    run({.seed = 12,
         .workers = {2, 1},
         .phases = 1,
         .calls = 300,
         .keys = 4,
         .own_lengths = true,
         .resets = gradients,
         .replication = ServerReplication{.gradients = gradients, .technique = Technique::adversarial}},
        Options::from_environment());
  }
}

TEST_CASE("history: one wanted key, which every rank changes") {
  for (const Technique technique : {Technique::adaptive, Technique::replicate}) {
    run({.seed = 13,
         .workers = {2, 1},
         .phases = 1,
         .calls = 300,
         .keys = 1,
         .resets = true,
         .replication = ServerReplication{.technique = technique, .intents = 8, .leaves_some = true}},
        Options::from_environment());
  }
}

TEST_CASE("history: wanted keys while a rank stands still now and then") {
  std::optional<StopsNowAndThen> stops;
  if (rank_of_world() == static_cast<int>(ranks_of_world()) - 1) {
    stops.emplace(6);
    REQUIRE(stops->begun());
  }
  int goes_on = 1;
  for (std::uint64_t seed = 14; goes_on != 0; ++seed) {
    run({.seed = seed,
         .workers = {2, 1},
         .phases = 1,
         .calls = 300,
         .keys = 3,
         .resets = true,
         .replication = ServerReplication{.technique = Technique::adversarial}},
        Options::from_environment());
    goes_on = stops && !stops->finished() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &goes_on, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
}
