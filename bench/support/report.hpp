// What a benchmark found, and its output as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::bench {

// What is measured: one line of the table in a benchmark's first comment.
struct Case {
  std::string name;
  std::string metric;  // "latency", "rate", ...
  std::string unit;    // "ns", "keys/s", ...
  std::int32_t ranks = 1;
  std::int32_t workers = 1;  // of all ranks that work on the case
  std::string domain = {};   // as domain_of returns it; empty: that of the environment
};

// Measurements of a case, one per run; each baseline was taken right after the value with the same index.
// Empty baselines: there is no plain program to compare with.
struct Series {
  std::vector<double> values;
  std::vector<double> baselines;
};

// A case with the medians over its runs.
struct Result {
  Case what;
  std::string baseline_name;  // what the plain program does; empty: there is none
  std::size_t runs = 0;
  double value = 0;
  double lower_quartile = 0;  // of the values
  double upper_quartile = 0;
  double best = 0;  // of the values: the smallest, of rates the largest
  std::optional<double> baseline;
  std::optional<double> ratio;  // value / baseline
};

// The element that `share` (0 to 1) of the others are not above; 0.5: the median. `values` is not empty.
double quantile(std::vector<double> values, double share);

Result summarize(const Case& what, std::string_view baseline_name, const Series& series);

// One object with the fields case, metric, value, unit, ranks, workers, domain, runs, lower_quartile,
// upper_quartile, best and, with a baseline, its name, its median and the ratio (named in bench/README.md).
std::string to_json(const Result& result);
std::string to_json(const std::vector<Result>& results);

}  // namespace lapse::bench
