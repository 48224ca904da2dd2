// Tables of runs, as HTML.
#pragma once

#include <string>
#include <vector>

#include "apps/report/run_summary.hpp"

namespace lapse::apps {

// The results of the runs with a column for each run, those of the model's quality first. In a row of
// several runs the best number is marked where the result's name says which is better.
std::string results_table(const std::vector<RunSummary>& runs);

// The options of the runs' commands. Options that differ are marked. Empty if no run has a command.
std::string options_table(const std::vector<RunSummary>& runs);

// The numbers of each epoch of a run.
std::string history_table(const RunSummary& run);

// A run's name beside its mark in the charts.
std::string run_heading(const RunSummary& run, std::size_t number);

}  // namespace lapse::apps
