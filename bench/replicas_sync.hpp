// The cases of the benchmark `replicas` that refresh replicas.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_replica_sync(Bench& bench);

}  // namespace lapse::bench
