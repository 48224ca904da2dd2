// The cases of the benchmark `replicas` in which copies are brought up to date.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_replica_sync(Bench& bench);

}  // namespace lapse::bench
