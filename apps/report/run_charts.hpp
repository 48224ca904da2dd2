// Which charts show runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/report/line_chart.hpp"
#include "apps/report/run_summary.hpp"

namespace lapse::apps {

enum class ChartBy { epoch, time };

// A chart of one series of runs, with a line for each run that has it.
LineChart chart_of(const std::vector<RunSummary>& runs, std::string_view series, ChartBy by);

// The chart of several series of runs, with a line for each series of each run. Throws ConfigurationError
// for a series that no run has, with the names of those that there are.
LineChart chart_of(const std::vector<RunSummary>& runs, const std::vector<std::string>& series, ChartBy by);

// The names of the series of all runs, in the order in which they first occur.
struct SeriesNames {
  std::vector<std::string> qualities;  // losses and measures of quality, not all zero
  std::vector<std::string> costs;      // seconds and share of remote accesses
  std::vector<std::string> others;
};
SeriesNames series_names(const std::vector<RunSummary>& runs);

}  // namespace lapse::apps
