// What the JSON file of an application's --summary-json says about a run.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lapse::apps {

// A number of each epoch; NaN: none.
struct RunSeries {
  std::string name;  // with those of the objects around the number: "valid mrr"
  std::vector<double> values;
};

struct RunHistory {
  // Ascending: those of the file, or 1, 2, ... where an epoch has no number, or not a larger one.
  std::vector<double> epochs;
  // In the order of the first epochs that have them; all as long as `epochs`.
  std::vector<RunSeries> series;

  // Null for a name that no series has.
  const RunSeries* find(std::string_view name) const;
  // The sum of the seconds until the end of each epoch; NaN from the first that has none.
  std::vector<double> elapsed_seconds() const;
};

struct RunResult {
  std::string name;
  std::variant<double, std::string> value;  // NaN: none
};

struct RunSummary {
  std::string name;     // as the user calls the run
  std::string command;  // empty, as the next three: not recorded
  std::string version;
  std::string data;
  std::string ended;
  std::vector<RunResult> results;  // texts and numbers, also the number of ranks
  RunHistory history;
};

// `path`: for messages. Throws FileError if the text is not JSON, or not that of a summary.
RunSummary parse_run_summary(std::string_view json, const std::string& path, std::string name);
RunSummary read_run_summary(const std::string& path, std::string name);

}  // namespace lapse::apps
