// What the failure of a group ends, and what it leaves to others.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "lapse/core/error.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/groups.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;

TEST_CASE("A worker that waits for nothing learns at its next access that its group has failed") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 40, .length = 1});
  std::atomic<int> ended_by_group{0};
  const std::vector<GroupPart> parts{
      {.workers = 1, .work = [](Worker& worker) { worker.barrier(); }},
      {.workers = 2,
       .work =
           [&](Worker& worker) {
             const Key own(worker.index());
             std::vector<double> value(1);
             worker.localize(table, own).wait();
             const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
             try {
               // On a slow rank, the workers may still be here when they learn it.
               worker.barrier();
               if (worker.index() == 0) throw std::runtime_error("the first");
               while (std::chrono::steady_clock::now() < end) worker.pull(table, own, value).wait();
             } catch (const GroupFailed&) {
               ended_by_group.fetch_add(1);
               throw;
             }
           }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  CHECK_FALSE(ends[0].failure);
  REQUIRE(ends[1].failure.has_value());
  CHECK(ends[1].failure->text() == "the first");
  CHECK(ended_by_group.load() == (server.rank() == Rank(0) ? 1 : 2));
}

TEST_CASE("An operation that fails in a group that has failed is no failure of the next worker in the slot") {
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() == 1) return;  // On one rank everything fails at once.
  const std::int32_t ranks = server.ranks();
  const auto table =
      server.create_table<double>({.keys = static_cast<std::uint64_t>(ranks),
                                   .length = 1,
                                   .home = HomeMapKind::custom,
                                   .home_function = [](Key key) { return static_cast<int>(key.value()); }});
  const auto refuse = server.register_function<double>(
      "refuse", [](Key, std::span<double>) { throw std::invalid_argument("refused"); });
  const std::vector<GroupPart> parts{
      {.workers = 1,
       .work =
           [&](Worker& worker) {
             const std::vector<Key> remote{Key((worker.index() + 1) % worker.count())};
             worker.call(table, refuse, remote);
             throw std::runtime_error("after the call");
           }},
      {.workers = 1, .work = [](Worker& worker) { worker.barrier(); }},
  };
  const std::vector<GroupEnd> ends = server.run_groups(parts);
  REQUIRE(ends[0].failure.has_value());
  CHECK(ends[0].failure->text() == "after the call");
  CHECK_FALSE(ends[1].failure);
  CHECK_NOTHROW(server.run_workers(2, [](Worker& worker) { worker.wait_all(); }));
}
