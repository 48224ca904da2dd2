// The cases of the benchmark `access` with three ranks.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over three ranks.
void measure_moved_access(Bench& bench);

}  // namespace lapse::bench
