// The files in which an application writes the results of a run.
#pragma once

#include <string>
#include <string_view>

#include "apps/common/summary.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

struct ResultFiles {
  std::string summary_json;  // empty: none
  std::string report;        // empty: none

  // Makes the files that are given, empty: what cannot be written fails before the work. Throws FileError.
  void create() const;
  // Writes the results as JSON and as a page, each with the command line, the version, the time and `data`,
  // which describes the run's input. Throws FileError.
  void write(const Summary& results, std::string_view data) const;
};

// Adds the options --summary-json and --report.
void add_result_files(CLI::App& app, ResultFiles& files);

}  // namespace lapse::apps
