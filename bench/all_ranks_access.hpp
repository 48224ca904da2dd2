// The cases of the benchmark `access` in which every rank requests keys of all ranks.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_all_ranks_access(Bench& bench);

}  // namespace lapse::bench
