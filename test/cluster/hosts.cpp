// Ranks distinguish the hosts of a cluster. The environment variable CLUSTER_RANKS gives the expected host of
// each rank as a number from 1, such as "1 2 2 2"; host I has the name nI.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "lapse/transport/mpi/transport.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

std::vector<std::int32_t> expected_hosts() {
  const char* variable = std::getenv("CLUSTER_RANKS");
  REQUIRE(variable != nullptr);
  std::istringstream text(variable);
  std::vector<std::int32_t> hosts;
  for (std::int32_t host = 0; text >> host;) hosts.push_back(host);
  return hosts;
}

}  // namespace

TEST_CASE("every rank is on the host where it was placed, and counts the ranks there") {
  MpiTransport transport(MPI_COMM_WORLD);
  const std::vector<std::int32_t> hosts = expected_hosts();
  REQUIRE(hosts.size() == static_cast<std::size_t>(transport.ranks()));
  const std::int32_t mine = hosts[transport.rank().index()];
  CHECK(transport.host_name() == std::string("n").append(std::to_string(mine)));
  CHECK(transport.host_ranks() == std::ranges::count(hosts, mine));
  transport.close();
}

TEST_CASE("a window of shared memory joins the ranks of a host and no others") {
  const std::vector<std::int32_t> hosts = expected_hosts();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::int32_t mine = hosts.at(static_cast<std::size_t>(rank));

  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  int host_rank = 0;
  MPI_Comm_rank(host, &host_rank);
  std::int32_t* own = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(host_rank == 0 ? sizeof(std::int32_t) : 0, sizeof(std::int32_t), MPI_INFO_NULL,
                          host, &own, &window);
  MPI_Aint bytes = 0;
  int unit = 0;
  std::int32_t* first = nullptr;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &first);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  if (host_rank == 0) *first = mine;
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  CHECK(*first == mine);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Comm_free(&host);
}
