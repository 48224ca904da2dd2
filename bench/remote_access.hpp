// The cases of the benchmark `access` with two ranks.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over two ranks.
void measure_remote_access(Bench& bench);

}  // namespace lapse::bench
