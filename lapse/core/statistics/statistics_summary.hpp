// The lines with which the text of statistics begins.
#pragma once

#include <string>

#include "lapse/core/statistics.hpp"

namespace lapse {

// Five lines for a person, over all ranks and tables: what there is, where accesses went, messages, keys that
// moved, copies.
std::string summary_lines(const Statistics& statistics);

}  // namespace lapse
