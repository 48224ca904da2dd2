#include "apps/report/run_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/report/measure.hpp"
#include "apps/report/number_text.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

constexpr double kLogarithmicFrom = 100;  // largest value by the smallest one
constexpr std::string_view kSecondsSeries = "seconds";
constexpr std::string_view kLocalSeries = "local_share";  // shown as the share of the other accesses

std::string series_title(std::string_view series) {
  if (series == kSecondsSeries) return "seconds of an epoch";
  if (series == kLocalSeries) return "remote share of accesses";
  return readable_name(series);
}

// "best 1.5289 in epoch 8"
std::string best_note(const RunHistory& history, const RunSeries& series) {
  const Better better = measure_of(series.name).better;
  std::size_t best = series.values.size();
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (!std::isfinite(series.values[i])) continue;
    if (best == series.values.size() || is_better(series.values[i], series.values[best], better)) best = i;
  }
  if (best == series.values.size() || better == Better::unknown) return {};
  return fmt::format("best {} in epoch {}", number_text(series.values[best]),
                     number_text(history.epochs[best]));
}

ChartLine line_of(const RunSummary& run, const RunSeries& series, ChartBy by, std::size_t number) {
  const RunHistory& history = run.history;
  ChartLine line{.name = run.name, .note = {}, .number = number, .x = {}, .y = series.values};
  line.x = by == ChartBy::epoch ? history.epochs : history.elapsed_seconds();
  if (series.name == kLocalSeries) {
    for (double& value : line.y) value = 1 - value;
  } else if (measure_of(series.name).is_quality) {
    line.note = best_note(history, series);
  }
  return line;
}

void set_axes(LineChart& chart, ChartBy by, bool are_shares, bool are_seconds) {
  chart.x_label = by == ChartBy::epoch ? "epoch" : "seconds of training";
  chart.x_axis.integers = by == ChartBy::epoch;
  chart.x_axis.from_zero = by == ChartBy::time;
  chart.y_axis.percent = are_shares;
  chart.y_axis.from_zero = are_shares || are_seconds;
  if (!are_shares && !are_seconds) chart.y_axis.logarithmic_from = kLogarithmicFrom;
}

bool is_zero(const std::vector<RunSummary>& runs, std::string_view name) {
  return std::ranges::all_of(runs, [&](const RunSummary& run) {
    const RunSeries* const series = run.history.find(name);
    return series == nullptr || std::ranges::all_of(series->values, [](double value) {
             return value == 0 || !std::isfinite(value);
           });
  });
}

std::vector<std::string> all_names(const std::vector<RunSummary>& runs) {
  std::vector<std::string> names;
  for (const RunSummary& run : runs) {
    for (const RunSeries& series : run.history.series)
      if (std::ranges::find(names, series.name) == names.end()) names.push_back(series.name);
  }
  return names;
}

}  // namespace

LineChart chart_of(const std::vector<RunSummary>& runs, std::string_view series, ChartBy by) {
  LineChart chart;
  chart.title = series_title(series);
  if (by == ChartBy::time) chart.title += " by time";
  set_axes(chart, by, series == kLocalSeries, series == kSecondsSeries);
  for (std::size_t number = 0; number < runs.size(); ++number)
    if (const RunSeries* const found = runs[number].history.find(series))
      chart.lines.push_back(line_of(runs[number], *found, by, number));
  return chart;
}

LineChart chart_of(const std::vector<RunSummary>& runs, const std::vector<std::string>& series, ChartBy by) {
  const std::vector<std::string> names = all_names(runs);
  LineChart chart;
  bool are_shares = true;
  bool are_seconds = true;
  for (const std::string& name : series) {
    if (std::ranges::find(names, name) == names.end()) {
      std::string known;
      for (const std::string& each : names) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", each);
      throw ConfigurationError(fmt::format("no run has a series '{}', expected {}", name,
                                           known.empty() ? "none: there is no history" : known));
    }
    chart.title += (chart.title.empty() ? "" : ", ") + series_title(name);
    are_shares = are_shares && name == kLocalSeries;
    are_seconds = are_seconds && name == kSecondsSeries;
    for (const RunSummary& run : runs) {
      const RunSeries* const found = run.history.find(name);
      if (found == nullptr) continue;
      chart.lines.push_back(line_of(run, *found, by, chart.lines.size()));
      if (series.size() > 1) chart.lines.back().name += ": " + series_title(name);
    }
  }
  set_axes(chart, by, are_shares, are_seconds);
  return chart;
}

SeriesNames series_names(const std::vector<RunSummary>& runs) {
  SeriesNames names;
  for (const std::string& name : all_names(runs)) {
    if (name == kSecondsSeries || name == kLocalSeries)
      names.costs.push_back(name);
    else if (measure_of(name).is_quality && !is_zero(runs, name))
      names.qualities.push_back(name);
    else
      names.others.push_back(name);
  }
  return names;
}

}  // namespace lapse::apps
