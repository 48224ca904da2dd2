// The cases of the benchmark `one_sided` with three ranks.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over three ranks, on one host or on three.
void measure_first_access(Bench& bench);

}  // namespace lapse::bench
