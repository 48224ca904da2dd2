// The first lines of the statistics text.
#pragma once

#include <string>

#include "lapse/core/statistics.hpp"

namespace lapse {

// Five summary lines over all ranks and tables: the job, shares of accesses, messages, relocations, replicas.
std::string summary_lines(const Statistics& statistics);

}  // namespace lapse
