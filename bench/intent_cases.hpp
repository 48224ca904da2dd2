// The cases of the benchmark `intent`.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective.
void measure_intent(Bench& bench);

}  // namespace lapse::bench
