// The cases of the benchmark `access` about sparse tables, with one rank.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over one rank.
void measure_sparse_access(Bench& bench);

}  // namespace lapse::bench
