// The cases of the benchmark `replicas` that write to and read replicas, on two ranks.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_replica_access(Bench& bench);

}  // namespace lapse::bench
