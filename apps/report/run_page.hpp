// The page about one run, or about several runs side by side.
#pragma once

#include <string>
#include <vector>

#include "apps/report/run_summary.hpp"

namespace lapse::apps {

// One HTML document: what was run and on what, charts, tables of results and options, and the numbers of
// each epoch. Throws ConfigurationError if there is no run, or two with one name.
std::string run_page(const std::vector<RunSummary>& runs);

}  // namespace lapse::apps
