// The ranks that a rank's replicas concern.
#pragma once

#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// The ranks of this domain, for any table that may have replicas.
std::vector<Rank> members_of_domain(const Registry& registry);
// The ranks that serve, for another domain, a key that this rank serves, of a table that may have replicas.
std::vector<Rank> peers_of(const Registry& registry);

}  // namespace lapse
