// The cases of the benchmark `pipeline`.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over two ranks.
void measure_pipelines(Bench& bench);

}  // namespace lapse::bench
