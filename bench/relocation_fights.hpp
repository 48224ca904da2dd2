// The cases of the benchmark `relocation` in which ranks compete for keys.
//
//   case                        ranks    metric  baseline
//   N ranks fighting batch 1    2, 3, 4  rate    none
//   N ranks fighting batch 10   2, 3, 4  rate    none
//
// 100 keys of 25 floats with homes on all ranks. On every rank a worker localizes random keys, 1 or 10 per
// call, waits for them, and immediately requests other keys, in 5,000 calls (batch 10: 2,000). The metric is
// the rate at which keys arrive on all ranks. 10 runs.
#pragma once

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over two to four ranks.
void measure_fights(Bench& bench);

}  // namespace lapse::bench
