// Groups of workers that run on one server at the same time.
#include "lapse/ps/groups.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 40;
constexpr int kSteps = 30;

// Every worker pushes 1 to every key, again and again, with collective calls between.
void add_ones(Worker& worker, const Table<double>& table, std::uint64_t first, std::uint64_t end) {
  const std::vector<Key> keys = key_range(first, end);
  const std::vector<double> ones(keys.size(), 1.0);
  std::vector<double> values(keys.size());
  for (int step = 1; step <= kSteps; ++step) {
    worker.push(table, keys, ones).wait();
    worker.barrier();
    worker.pull(table, keys, values).wait();
    const double sum = static_cast<double>(worker.count()) * step;
    for (const double value : values) expect(value == sum, "the exact sum of the group's pushes");
    std::array<std::int64_t, 1> count{1};
    worker.all_reduce(count);
    expect(count[0] == static_cast<std::int64_t>(worker.count()), "the workers of the group alone");
  }
}

// Of the second group, as many workers on each rank as it has a number, but at least one on the last rank.
std::int32_t rising(Rank rank, std::int32_t ranks) {
  return rank.value() + (ranks == 1 ? 1 : 0);
}

}  // namespace

TEST_CASE("Groups number their workers by themselves, and have barriers and reductions at the same time") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 2 * kKeys, .length = 1});
  const std::int32_t ranks = server.ranks();
  const auto check_numbers = [&](Worker& worker, std::size_t before, std::size_t here, std::size_t all) {
    expect(worker.count() == all && worker.local_count() == here, "the size of the group");
    expect(worker.index() == before + worker.local_index() && worker.local_index() < here, "the index in it");
    std::vector<std::int64_t> seen(worker.count());
    seen[worker.index()] = 1;
    worker.all_reduce(std::span<std::int64_t>(seen));
    expect(seen == std::vector<std::int64_t>(worker.count(), 1), "every index once");
  };
  std::size_t rising_before = 0;
  std::size_t rising_all = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const auto of_rank = static_cast<std::size_t>(rising(Rank(rank), ranks));
    if (rank < server.rank().value()) rising_before += of_rank;
    rising_all += of_rank;
  }
  const std::int32_t here = rising(server.rank(), ranks);
  const std::vector<GroupPart> parts{
      {.workers = 2,
       .work =
           [&](Worker& worker) {
             const auto rank = static_cast<std::size_t>(server.rank().value());
             check_numbers(worker, 2 * rank, 2, 2 * static_cast<std::size_t>(ranks));
             add_ones(worker, table, 0, kKeys);
           }},
      {.workers = here,
       .work =
           [&](Worker& worker) {
             check_numbers(worker, rising_before, static_cast<std::size_t>(here), rising_all);
             add_ones(worker, table, kKeys, 2 * kKeys);
           }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  REQUIRE(ends.size() == 2);
  CHECK_FALSE(ends[0].failure);
  CHECK_FALSE(ends[1].failure);
}

TEST_CASE("A worker that throws ends its group on every rank, and the other group ends with the exact sum") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 2 * kKeys, .length = 1});
  const Rank last(server.ranks() - 1);
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> ended_by_group{0};
    const std::vector<GroupPart> parts{
        {.workers = 2,
         .work =
             [&](Worker& worker) {
               const std::vector<Key> keys = key_range(0, kKeys);
               const std::vector<double> ones(kKeys, 1.0);
               try {
                 for (int step = 0;; ++step) {
                   const Operation unfinished = worker.push(table, keys, ones);
                   if (step == 5 && server.rank() == last && worker.local_index() == 1)
                     throw std::runtime_error("fifth step");
                   worker.barrier();
                 }
               } catch (const GroupFailed& error) {
                 expect(error.origin() == last && error.text() == "fifth step", "what has failed");
                 ended_by_group.fetch_add(1);
                 throw;
               }
             }},
        {.workers = 1,
         .work =
             [&](Worker& worker) {
               std::vector<double> values(kKeys);
               const std::vector<Key> keys = key_range(kKeys, 2 * kKeys);
               worker.set(table, keys, std::vector<double>(kKeys, 0.0)).wait();
               worker.barrier();
               add_ones(worker, table, kKeys, 2 * kKeys);
             }},
    };
    const std::vector<GroupEnd> ends = server.run_groups(parts);
    REQUIRE(ends[0].failure.has_value());
    CHECK(ends[0].failure->origin() == last);
    CHECK(ends[0].failure->text() == "fifth step");
    CHECK_FALSE(ends[1].failure);
    CHECK(ended_by_group.load() == (server.rank() == last ? 1 : 2));
  }
  // The slots are free again, for a phase of all workers, too.
  server.run_workers(3, [&](Worker& worker) {
    std::vector<double> values(kKeys);
    worker.pull(table, key_range(kKeys, 2 * kKeys), values).wait();
    for (const double value : values) expect(value == kSteps * server.ranks(), "the sum of the last round");
    std::array<double, 1> one{1};
    worker.all_reduce(one);
    expect(one[0] == 3 * server.ranks(), "a reduction over all workers");
  });
}

TEST_CASE("Collective calls that differ end the group alone") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::vector<GroupPart> parts{
      {.workers = 2,
       .work =
           [&](Worker& worker) {
             std::array<double, 1> one{1};
             if (worker.index() + 1 == worker.count()) {
               worker.barrier();
             } else {
               worker.all_reduce(one);
             }
           }},
      {.workers = 1,
       .work =
           [&](Worker& worker) {
             for (int step = 0; step < kSteps; ++step) worker.barrier();
           }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  REQUIRE(ends[0].failure.has_value());
  CHECK_THAT(ends[0].failure->text(), Catch::Matchers::Contains("barrier"));
  CHECK_THAT(ends[0].failure->text(), Catch::Matchers::Contains("all_reduce"));
  CHECK_FALSE(ends[1].failure);
}

TEST_CASE("A worker that returns while others of its group wait ends the group alone") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::vector<GroupPart> parts{
      {.workers = 2,
       .work =
           [&](Worker& worker) {
             if (worker.index() > 0) worker.barrier();
           }},
      {.workers = 1, .work = [&](Worker& worker) { worker.barrier(); }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  REQUIRE(ends[0].failure.has_value());
  CHECK_THAT(ends[0].failure->text(), Catch::Matchers::Contains("has returned"));
  CHECK_FALSE(ends[1].failure);
}

TEST_CASE("A group that fails gives its leases back, also those that it waits for") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 4, .length = 1});
  const std::vector<Key> keys = key_range(0, 4);
  std::atomic<int> leased{0};
  const std::vector<GroupPart> parts{
      {.workers = 2,
       .work =
           [&](Worker& worker) {
             // One of them has the keys when it throws; the others wait for them.
             const Lease lease = worker.lease(table, keys);
             throw std::runtime_error("while the keys are held");
           }},
      {.workers = 1,
       .work =
           [&](Worker& worker) {
             for (int step = 0; step < 5; ++step) {
               Lease lease = worker.lease(table, keys);
               leased.fetch_add(1);
               lease.release();
             }
           }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  REQUIRE(ends[0].failure.has_value());
  CHECK(ends[0].failure->text() == "while the keys are held");
  CHECK_FALSE(ends[1].failure);
  CHECK(leased.load() == 5);
  server.run_workers(1, [&](Worker& worker) { const Lease lease = worker.lease(table, keys); });
}

TEST_CASE("A worker whose group fails while it waits for a lease gives it back when it is granted") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table =
      server.create_table<double>({.keys = static_cast<std::uint64_t>(server.ranks()), .length = 1});
  const std::vector<Key> key{Key(static_cast<std::uint64_t>(server.rank().value()))};
  std::atomic<bool> is_held{false};
  std::atomic<bool> is_wanted{false};
  // Long enough for the other worker of this rank to get from the flag that it has set into its call.
  const auto let_others_call = [] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  };
  const auto wait_for = [](const std::atomic<bool>& flag) {
    while (!flag.load()) std::this_thread::yield();
  };
  const std::vector<GroupPart> parts{
      {.workers = 2,
       .work =
           [&](Worker& worker) {
             if (worker.local_index() == 0) {
               wait_for(is_held);
               is_wanted.store(true);
               const Lease lease = worker.lease(table, key);
             }
             wait_for(is_wanted);
             let_others_call();
             throw std::runtime_error("while another worker waits");
           }},
      {.workers = 1,
       .work =
           [&](Worker& worker) {
             Lease lease = worker.lease(table, key);
             is_held.store(true);
             wait_for(is_wanted);
             for (int time = 0; time < 3; ++time) let_others_call();
             lease.release();
             for (int step = 0; step < 5; ++step) worker.lease(table, key).release();
           }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  REQUIRE(ends[0].failure.has_value());
  CHECK(ends[0].failure->text() == "while another worker waits");
  CHECK_FALSE(ends[1].failure);
}

TEST_CASE("A sync_barrier of a group is that of its workers") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = kKeys, .length = 1});
  const std::vector<GroupPart> parts{
      {.workers = 2,
       .work =
           [&](Worker& worker) {
             const std::vector<Key> keys = key_range(0, kKeys);
             std::vector<double> values(kKeys);
             for (int step = 1; step <= 5; ++step) {
               worker.push(table, keys, std::vector<double>(kKeys, 1.0));
               worker.sync_barrier();
               worker.pull(table, keys, values).wait();
               for (const double value : values)
                 expect(value == static_cast<double>(worker.count()) * step, "what the group has pushed");
               worker.barrier();
             }
           }},
      {.workers = 1, .work = [&](Worker& worker) { worker.barrier(); }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  CHECK_FALSE(ends[0].failure);
  CHECK_FALSE(ends[1].failure);
}

TEST_CASE("The end of a group says what its workers have counted") {
  constexpr std::chrono::milliseconds kLongest(20);
  ParameterServer server(MPI_COMM_WORLD);
  const auto first = server.create_table<double>({.keys = kKeys, .length = 1});
  const auto second = server.create_table<double>({.keys = kKeys, .length = 1});
  const auto read = [&](Worker& worker, const Table<double>& table, int times) {
    std::vector<double> values(kKeys);
    for (int time = 0; time < times; ++time) worker.pull(table, key_range(0, kKeys), values).wait();
  };
  for (int round = 0; round < 2; ++round) {
    const std::vector<GroupPart> parts{
        {.workers = 2,
         .work =
             [&](Worker& worker) {
               const auto end = std::chrono::steady_clock::now() + kLongest;
               read(worker, first, 3);
               while (worker.local_index() == 0 && std::chrono::steady_clock::now() < end) {
               }
             }},
        {.workers = 1, .work = [&](Worker& worker) { read(worker, second, 2); }},
    };
    const std::vector<GroupEnd> ends = server.run_groups(parts);
    REQUIRE(ends[0].counters.size() == 2);
    CHECK(ends[0].counters[0].operations == 6);
    CHECK(ends[0].counters[1].operations == 0);
    CHECK(ends[1].counters[0].operations == 0);
    CHECK(ends[1].counters[1].operations == 2);
    CHECK(ends[1].counters[1].local_pulls <= 2 * kKeys);
    if (server.ranks() == 1) CHECK(ends[1].counters[1].local_pulls == 2 * kKeys);
    CHECK(ends[0].time >= kLongest);
    CHECK(ends[1].time.count() > 0);
  }
}

TEST_CASE("A worker that its group's function has kept refuses calls when the group has ended") {
  ParameterServer server(MPI_COMM_WORLD);
  Worker* kept = nullptr;
  server.run_groups(std::vector<GroupPart>{{.workers = 1, .work = [&](Worker& worker) { kept = &worker; }}});
  server.run_workers(1, [](Worker&) {});
  CHECK_THROWS_AS(kept->sync_barrier(), UsageError);
  CHECK_THROWS_AS(kept->barrier(), UsageError);
  CHECK(kept->count() == static_cast<std::size_t>(server.ranks()));
}

TEST_CASE("Calls of run_groups that differ, or without a worker of a group, are refused on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  const GroupPart none{.workers = 0, .work = [](Worker&) {}};
  const GroupPart one{.workers = 1, .work = [](Worker&) {}};
  CHECK_THROWS_AS(server.run_groups(std::vector<GroupPart>{one, none}), UsageError);
  CHECK_THROWS_AS(server.run_groups(std::vector<GroupPart>{{.workers = -1, .work = [](Worker&) {}}}),
                  UsageError);
  if (server.ranks() > 1) {
    const std::vector<GroupPart> parts(server.rank() == Rank(0) ? 1 : 2, one);
    CHECK_THROWS_AS(server.run_groups(parts), CollectiveMismatch);
  }
  CHECK_FALSE(server.run_groups(std::vector<GroupPart>{one}).front().failure);
  CHECK_THROWS_AS(server.run_groups({}), UsageError);
}
