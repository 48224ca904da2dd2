// The cases of the benchmark `relocation` with two ranks on different hosts.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over two ranks.
void measure_tcp_relocation(Bench& bench);

}  // namespace lapse::bench
