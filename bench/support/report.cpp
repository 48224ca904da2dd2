#include "bench/support/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lapse::bench {

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return values[below] + fraction * (values[above] - values[below]);
}

Result summarize(const Case& what, std::string_view baseline_name, const Series& series) {
  Result result;
  result.what = what;
  result.runs = series.values.size();
  result.value = quantile(series.values, 0.5);
  result.lower_quartile = quantile(series.values, 0.25);
  result.upper_quartile = quantile(series.values, 0.75);
  result.best = quantile(series.values, what.metric == "rate" || what.metric == "bandwidth" ? 1 : 0);
  if (!series.baselines.empty()) {
    result.baseline_name = baseline_name;
    result.baseline = quantile(series.baselines, 0.5);
    result.ratio = result.value / *result.baseline;
  }
  return result;
}

std::string to_json(const Result& result) {
  // Names are constants of the benchmarks and need no escapes.
  std::string text = fmt::format(
      R"({{"case": "{}", "metric": "{}", "value": {:.6g}, "unit": "{}", "ranks": {}, "workers": {}, )"
      R"("domain": "{}", "runs": {}, "lower_quartile": {:.6g}, "upper_quartile": {:.6g}, "best": {:.6g})",
      result.what.name, result.what.metric, result.value, result.what.unit, result.what.ranks,
      result.what.workers, result.what.domain, result.runs, result.lower_quartile, result.upper_quartile,
      result.best);
  if (result.baseline) {
    text += fmt::format(R"(, "twin_name": "{}", "twin": {:.6g}, "ratio": {:.4g})", result.baseline_name,
                        *result.baseline, *result.ratio);
  }
  return text + "}";
}

std::string to_json(const std::vector<Result>& results) {
  std::string text = "[";
  for (std::size_t i = 0; i < results.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + to_json(results[i]);
  }
  return text + "\n]\n";
}

}  // namespace lapse::bench
