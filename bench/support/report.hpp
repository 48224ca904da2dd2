// Results of a benchmark, and their output as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::bench {

// A measured case: one line of the table in a benchmark's first comment.
struct Case {
  std::string name;
  std::string metric;  // "latency", "rate", ...
  std::string unit;    // "ns", "keys/s", ...
  std::int32_t ranks = 1;
  std::int32_t workers = 1;  // of all ranks, in the case
  std::string domain = {};   // see domain_of; empty: that of the environment
};

// Measurements of a case, one per run; each baseline is measured right after the value with the same index.
// Empty baselines: no plain program to compare with.
struct Series {
  std::vector<double> values;
  std::vector<double> baselines;
};

// A case with the medians over its runs.
struct Result {
  Case what;
  std::string baseline_name;  // what the plain program does; empty: none
  std::size_t runs = 0;
  double value = 0;
  double lower_quartile = 0;  // of the values
  double upper_quartile = 0;
  double best = 0;  // of the values: the smallest, of rates the largest
  std::optional<double> baseline;
  std::optional<double> ratio;  // value / baseline
};

// The quantile for `share` (0 to 1); 0.5: the median. Requires non-empty `values`.
double quantile(std::vector<double> values, double share);

Result summarize(const Case& what, std::string_view baseline_name, const Series& series);

// One object with the fields case, metric, value, unit, ranks, workers, domain, runs, lower_quartile,
// upper_quartile, best and, with a baseline, its name, its median and the ratio (named in bench/README.md).
std::string to_json(const Result& result);
std::string to_json(const std::vector<Result>& results);

}  // namespace lapse::bench
