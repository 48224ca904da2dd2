// The cases of the benchmark `sampling`.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_sampling(Bench& bench);

}  // namespace lapse::bench
