// Applications with intents, under every technique of management.
#pragma once

#include <cstddef>
#include <cstdint>

#include "adapm/parameter_manager.hpp"
#include "apps/common/measured_phase.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/support/catch.hpp"

namespace lapse::test {

inline adapm::Options options_with(adapm::Technique technique) {
  return {.server = Options::from_environment(), .technique = technique};
}

// Whether workers may read replicas, which lack recent changes of others.
constexpr bool replicates(adapm::Technique technique) {
  using adapm::Technique;
  return technique != Technique::relocation_only && technique != Technique::static_partitioning &&
         technique != Technique::localize;
}

template <class Trainer>
TableCounters accesses_of(const Trainer& trainer) {
  apps::PhaseCost cost;
  for (const auto& record : trainer.epochs()) cost += record.cost;
  return cost.accesses;
}

// Checks that keys have moved between domains in the ways of the technique.
inline void check_ways(adapm::Technique technique, const TableCounters& accesses) {
  using adapm::Technique;
  const std::uint64_t remote = accesses.remote_pulls + accesses.remote_pushes;
  if (domains_of_world().domains() == 1) {
    CHECK(remote == 0);
    return;
  }
  switch (technique) {
    case Technique::adaptive:
    case Technique::immediate:
    case Technique::nups:
      CHECK(accesses.relocations_in > 0);
      break;
    case Technique::relocation_only:
    case Technique::localize:
      CHECK(accesses.relocations_in > 0);
      CHECK(accesses.copies_in == 0);
      break;
    case Technique::replication_only:
    case Technique::full_replication:
      CHECK(accesses.relocations_in == 0);
      CHECK(accesses.copy_pulls > 0);
      break;
    case Technique::static_partitioning:
      CHECK(accesses.relocations_in + accesses.copies_in == 0);
      CHECK(remote > 0);
      break;
  }
}

}  // namespace lapse::test
