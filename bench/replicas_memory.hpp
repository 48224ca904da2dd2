// The cases of the benchmark `replicas` that count memory, on two ranks.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_replica_memory(Bench& bench);

}  // namespace lapse::bench
