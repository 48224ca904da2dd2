// The random workload on real servers, each rank and each worker a thread of one process. Also runs under
// ThreadSanitizer.
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/support/random_workload_server.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

// Each rank is a domain of its own, unless a test overrides it.
Options quiet_options() {
  Options options;
  options.domain = {DomainChoice::Kind::rank, 1};
  options.startup_report = false;
  options.log_level = LogLevel::error;
  return options;
}

// Runs one thread per rank and rethrows an exception of any of them. Returns the counters of one of the
// tables.
TableCounters run(const ServerWorkload& workload, const ThreadedLoopbackSettings& settings,
                  const Options& options) {
  const std::size_t ranks = workload.workers.size();
  ThreadedLoopback network(static_cast<std::int32_t>(ranks), settings);
  std::vector<ServerHistory> histories(ranks);
  std::vector<std::unique_ptr<ParameterServer>> servers(ranks);
  std::vector<std::unique_ptr<ServerWorkloadRun>> runs(ranks);
  std::vector<std::exception_ptr> errors(ranks);
  TableCounters counters;
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        auto transport =
            std::make_unique<BorrowedTransport>(network.endpoint(Rank(static_cast<std::int32_t>(rank))));
        servers[rank] = std::make_unique<ParameterServer>(std::move(transport), options);
        runs[rank] = std::make_unique<ServerWorkloadRun>(*servers[rank], workload);
        runs[rank]->run();
        runs[rank]->pull_final_values();
        const Statistics statistics = servers[rank]->statistics();
        if (rank == 0) counters = statistics.table_total(TableId(0));
        histories[rank] = runs[rank]->history();
        servers[rank]->close();
      } catch (...) {
        errors[rank] = std::current_exception();
        servers[rank].reset();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  ServerHistory all;
  for (ServerHistory& history : histories) all.append(std::move(history));
  for (const auto& one : runs) one->check(all);
  return counters;
}

void check_that_keys_moved(const TableCounters& counters) {
  CHECK(counters.local_pulls > 0);
  CHECK(counters.remote_pulls > 0);
  CHECK(counters.relocations_in > 0);
}

}  // namespace

TEST_CASE("threads: one rank") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    CHECK_NOTHROW(run({.seed = seed, .workers = {3}}, {}, quiet_options()));
}

TEST_CASE("threads: uneven numbers of workers with and without caches") {
  for (const bool caches : {true, false}) {
    Options options = quiet_options();
    options.location_caches = caches;
    TableCounters counters;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CHECK_NOTHROW(counters += run({.seed = seed, .workers = {2, 0, 1}}, {}, options));
      CHECK_NOTHROW(counters += run({.seed = seed, .workers = {1, 2, 1, 2}, .keys = 3},
                                    {.separate_bulk_lane = true, .delay_seed = seed}, options));
    }
    check_that_keys_moved(counters);
    CHECK(counters.queued_accesses > 0);
    CHECK(counters.forwarded > 0);
  }
}

TEST_CASE("threads: few keys at home at one rank") {
  TableCounters counters;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CHECK_NOTHROW(counters +=
                  run({.seed = seed, .workers = {2, 2, 2}, .keys = 2, .home = HomeMapKind::custom},
                      {.separate_bulk_lane = true, .delay_seed = seed}, quiet_options()));
  }
  check_that_keys_moved(counters);
}

TEST_CASE("threads: lookups of owners") {
  for (const std::int32_t domain_ranks : {1, 2}) {
    Options options = quiet_options();
    options.domain = {DomainChoice::Kind::number, domain_ranks};
    TableCounters counters;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const std::optional<std::uint64_t> delays :
           {std::optional<std::uint64_t>{}, std::optional(seed)}) {
        CHECK_NOTHROW(counters += run({.seed = seed, .workers = {2, 1, 0, 2, 1}, .phases = 8, .calls = 50},
                                      {.delay_seed = delays, .remote_reads = true}, options));
      }
    }
    check_that_keys_moved(counters);
    CHECK(counters.owner_lookups > 0);
  }
}

TEST_CASE("threads: workers do not help") {
  Options options = quiet_options();
  options.helping = Helping::off;
  TableCounters counters;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CHECK_NOTHROW(counters += run({.seed = seed, .workers = {2, 1, 1}, .phases = 1}, {}, options));
  }
  check_that_keys_moved(counters);
}

TEST_CASE("threads: little room for unanswered operations and large values") {
  Options options = quiet_options();
  options.max_outstanding_operations = 2;
  TableCounters counters;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CHECK_NOTHROW(counters +=
                  run({.seed = seed, .workers = {2, 2}, .phases = 1, .calls = 300, .large_length = 2000},
                      {.separate_bulk_lane = true, .delay_seed = seed}, options));
  }
  check_that_keys_moved(counters);
}

TEST_CASE("threads: operations on many keys, from rows that change as soon as the call returns") {
  for (const Helping helping : {Helping::on, Helping::off}) {
    Options options = quiet_options();
    options.helping = helping;
    TableCounters counters;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      for (const std::uint64_t keys : {std::uint64_t{12}, std::uint64_t{150}}) {
        CHECK_NOTHROW(counters += run({.seed = seed,
                                       .workers = {2, 3, 1},
                                       .phases = 1,
                                       .calls = 60,
                                       .keys = keys,
                                       .sparse = seed == 2 && keys == 12,
                                       .bulk = 0.5},
                                      {.separate_bulk_lane = true, .delay_seed = seed}, options));
      }
    }
    check_that_keys_moved(counters);
    CHECK(counters.queued_accesses > 0);
  }
}

TEST_CASE("threads: many short phases") {
  TableCounters counters;
  CHECK_NOTHROW(counters += run({.seed = 7, .workers = {1, 2, 0, 1}, .phases = 30, .rounds = 1, .calls = 20},
                                {.separate_bulk_lane = true, .delay_seed = 7}, quiet_options()));
  check_that_keys_moved(counters);
}

TEST_CASE("threads: sparse tables and values with lengths of their own") {
  TableCounters counters;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const bool sparse : {true, false}) {
      CHECK_NOTHROW(counters +=
                    run({.seed = seed, .workers = {2, 1, 2}, .sparse = sparse, .own_lengths = true},
                        {.separate_bulk_lane = true, .delay_seed = seed}, quiet_options()));
    }
  }
  check_that_keys_moved(counters);
}

TEST_CASE("threads: keys that are set while others push") {
  TableCounters counters;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    for (const bool sparse : {true, false}) {
      CHECK_NOTHROW(counters +=
                    run({.seed = seed, .workers = {2, 1, 2}, .keys = 3, .sparse = sparse, .resets = true},
                        {.separate_bulk_lane = true, .delay_seed = seed}, quiet_options()));
    }
  }
  check_that_keys_moved(counters);
}

TEST_CASE("threads: keys that are wanted") {
  TableCounters counters;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    for (const bool gradients : {true, false}) {
      const ServerReplication replication{
          .gradients = gradients, .technique = Technique::adversarial, .leaves_some = seed == 2};
      CHECK_NOTHROW(counters += run({.seed = seed,
                                     .workers = {2, 1, 2},
                                     .keys = 3,
                                     .resets = gradients,
                                     .replication = replication,
                                     .large_length = 200},
                                    {.separate_bulk_lane = true, .delay_seed = seed}, quiet_options()));
    }
  }
  check_that_keys_moved(counters);
}

TEST_CASE("threads: one wanted key, which every rank changes") {
  TableCounters counters;
  for (const Technique technique : {Technique::adaptive, Technique::replicate}) {
    for (const std::int32_t domain_ranks : {1, 2}) {
      Options options = quiet_options();
      options.domain = {DomainChoice::Kind::number, domain_ranks};
      CHECK_NOTHROW(counters += run({.seed = 3,
                                     .workers = {1, 1, 0, 2},
                                     .calls = 300,
                                     .keys = 1,
                                     .resets = true,
                                     .replication = ServerReplication{.technique = technique, .intents = 8}},
                                    {.separate_bulk_lane = true, .delay_seed = 3}, options));
    }
  }
  CHECK(counters.copies_in > 0);
  CHECK(counters.deltas_out > 0);
  CHECK(counters.refreshes_in > 0);
}

// --- ranks that share memory

namespace {

Options domain_options(DomainChoice choice) {
  Options options = quiet_options();
  options.domain = choice;
  return options;
}

constexpr DomainChoice kPairs{DomainChoice::Kind::number, 2};
constexpr DomainChoice kHost{DomainChoice::Kind::host, 1};

// Memory of which each of `domains` gets `bytes` for a table, after the part that is left to others.
std::size_t memory_for(std::size_t bytes, std::size_t domains) {
  constexpr std::size_t kLeftToOthers = std::size_t{2} << 20;
  return (bytes + kLeftToOthers + 10) * domains * 10 / 9 + 10;
}

}  // namespace

TEST_CASE("threads: four ranks in two domains, some of them without workers") {
  for (const bool caches : {true, false}) {
    Options options = domain_options(kPairs);
    options.location_caches = caches;
    TableCounters counters;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const std::vector<std::int32_t>& workers :
           {std::vector<std::int32_t>{2, 1, 1, 2}, std::vector<std::int32_t>{3, 0, 0, 2}}) {
        CHECK_NOTHROW(counters += run({.seed = seed, .workers = workers, .keys = 3},
                                      {.separate_bulk_lane = true, .delay_seed = seed}, options));
      }
    }
    check_that_keys_moved(counters);
    CHECK(counters.queued_accesses > 0);
    CHECK(counters.forwarded > 0);
  }
}

TEST_CASE("threads: all ranks in one domain") {
  TableCounters counters;
  // Other ranks request leased keys from the rank that serves them. On a busy machine threads may run one
  // after the other for long.
  const auto has_met_lease = [&] {
    return counters.remote_pulls + counters.remote_pushes + counters.queued_accesses > 0;
  };
  for (std::uint64_t seed = 1; seed <= 3 || (seed <= 100 && !has_met_lease()); ++seed) {
    for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{5}}) {
      CHECK_NOTHROW(counters += run({.seed = seed, .workers = {3, 0, 3}, .keys = keys},
                                    {.separate_bulk_lane = true, .delay_seed = seed}, domain_options(kHost)));
    }
  }
  CHECK(counters.local_pulls > 0);
  CHECK(counters.relocations_in == 0);
  CHECK(has_met_lease());
}

TEST_CASE("threads: a domain whose memory is full uses private slots, which neighbours reach by message") {
  // A page of slot words, a page of owners, and little memory for slots.
  constexpr std::size_t kNoSlots = 2 * 4096 + 100;
  TableCounters counters;
  TableCounters of_plenty;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const std::size_t domains : {std::size_t{2}, std::size_t{1}}) {
      const Options options = domain_options(domains == 2 ? kPairs : kHost);
      const ServerWorkload workload{.seed = seed, .workers = {2, 1, 0, 2}, .own_lengths = true};
      ThreadedLoopbackSettings settings{.separate_bulk_lane = true, .delay_seed = seed};
      CHECK_NOTHROW(of_plenty += run(workload, settings, options));
      settings.shared_bytes = memory_for(kNoSlots, domains);
      CHECK_NOTHROW(counters += run(workload, settings, options));
    }
  }
  check_that_keys_moved(counters);
  CHECK(counters.remote_pulls > 2 * of_plenty.remote_pulls);
}

TEST_CASE("threads: some values in shared and some in private memory") {
  // Five values of 8192 bytes, of which two or three fit.
  constexpr std::size_t kSlots = 2 * 4096 + 3 * 8192;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const ServerWorkload workload{
        .seed = seed, .workers = {2, 1, 0, 1}, .phases = 1, .calls = 300, .large_length = 2048};
    CHECK_NOTHROW(run(workload,
                      {.separate_bulk_lane = true, .delay_seed = seed, .shared_bytes = memory_for(kSlots, 2)},
                      domain_options(kPairs)));
  }
}

TEST_CASE("threads: ranks that find no memory to share are domains of their own") {
  TableCounters counters;
  CHECK_NOTHROW(counters += run({.seed = 1, .workers = {2, 1, 1}}, {.delay_seed = 1, .shared_bytes = 4096},
                                domain_options(kHost)));
  check_that_keys_moved(counters);
}

TEST_CASE("threads: domains, large values and values with lengths of their own") {
  TableCounters counters;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    CHECK_NOTHROW(
        counters +=
        run({.seed = seed, .workers = {2, 1, 1}, .phases = 1, .own_lengths = true, .large_length = 2000},
            {.separate_bulk_lane = true, .delay_seed = seed}, domain_options(kPairs)));
  }
  check_that_keys_moved(counters);
}
