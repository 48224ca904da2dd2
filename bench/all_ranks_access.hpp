// The cases of the benchmark `access` in which every rank asks for keys of all.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_all_ranks_access(Bench& bench);

}  // namespace lapse::bench
