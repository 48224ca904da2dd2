// The cases of the benchmark `access` about ranks that share memory.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over two ranks. If the ranks cannot share memory, only prints this.
void measure_neighbour_access(Bench& bench);

}  // namespace lapse::bench
