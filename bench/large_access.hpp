// The cases of the benchmark `access` with large values of another rank.
#pragma once

#include <string>

#include "bench/support/bench.hpp"

namespace lapse::bench {

// Collective over two ranks. `prefix`: of the names of the cases, because cases on one host and on two share
// names.
void measure_large_access(Bench& bench, const std::string& prefix);

}  // namespace lapse::bench
