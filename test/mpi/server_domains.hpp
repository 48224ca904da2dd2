// Which ranks share memory. Tests run with several choices of domains (LAPSE_DOMAIN).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "lapse/core/options.hpp"
#include "lapse/directory/domain_map.hpp"

namespace lapse::test {

// For tests of keys on other ranks that must not be in shared memory.
inline Options ranks_alone() {
  Options options = Options::from_environment();
  options.domain = {DomainChoice::Kind::rank, 1};
  return options;
}

// Collective over MPI_COMM_WORLD. Returns the domains of dense tables, computed without the library under
// test.
inline DomainMap domains_of_world(const Options& options = Options::from_environment()) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  std::int32_t lowest = rank;
  MPI_Bcast(&lowest, 1, MPI_INT32_T, 0, host);
  MPI_Comm_free(&host);
  std::vector<std::int32_t> hosts(static_cast<std::size_t>(ranks));
  MPI_Allgather(&lowest, 1, MPI_INT32_T, hosts.data(), 1, MPI_INT32_T, MPI_COMM_WORLD);
  switch (options.domain.kind) {
    case DomainChoice::Kind::host:
      return DomainMap::of_hosts(hosts);
    case DomainChoice::Kind::number:
      return DomainMap::of_hosts(hosts, options.domain.ranks);
    case DomainChoice::Kind::rank:
      break;
  }
  return DomainMap::of_ranks(ranks);
}

inline bool share_memory(const DomainMap& domains, Rank a, Rank b) {
  return domains.domain_of(a) == domains.domain_of(b);
}

}  // namespace lapse::test
