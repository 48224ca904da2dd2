// The cases of the benchmark `access` about sizes of values and batches, with one rank.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over one rank.
void measure_local_sizes(Bench& bench);

}  // namespace lapse::bench
