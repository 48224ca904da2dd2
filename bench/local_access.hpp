// The cases of the benchmark `access` with one rank.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over one rank.
void measure_local_access(Bench& bench);

}  // namespace lapse::bench
