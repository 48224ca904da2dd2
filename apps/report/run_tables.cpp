#include "apps/report/run_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "apps/html/html_text.hpp"
#include "apps/report/chart_style.hpp"
#include "apps/report/command_options.hpp"
#include "apps/report/measure.hpp"
#include "apps/report/number_text.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kNoCell = "<td class=\"quiet\">-</td>";

std::string head_of(const std::vector<RunSummary>& runs, std::string_view first) {
  std::string html = fmt::format("<table>\n<thead><tr><th scope=\"col\">{}</th>", first);
  for (std::size_t i = 0; i < runs.size(); ++i)
    html += fmt::format("<th scope=\"col\">{}</th>", runs.size() == 1 ? "value" : run_heading(runs[i], i));
  return html + "</tr></thead>\n<tbody>\n";
}

const RunResult* find_result(const RunSummary& run, std::string_view name) {
  const auto found = std::ranges::find(run.results, name, &RunResult::name);
  return found == run.results.end() ? nullptr : &*found;
}

std::optional<double> number_of(const RunSummary& run, std::string_view name) {
  const RunResult* const result = find_result(run, name);
  const double* const number = result == nullptr ? nullptr : std::get_if<double>(&result->value);
  return number == nullptr || std::isnan(*number) ? std::nullopt : std::optional(*number);
}

// The best number of a row; none if there is no other one in the row.
std::optional<double> best_of(const std::vector<RunSummary>& runs, std::string_view name) {
  const Better better = measure_of(name).better;
  std::optional<double> best;
  bool differ = false;
  for (const RunSummary& run : runs) {
    const auto number = number_of(run, name);
    if (!number) continue;
    differ = differ || (best && *best != *number);
    if (!best || is_better(*number, *best, better)) best = number;
  }
  return differ && better != Better::unknown ? best : std::nullopt;
}

std::string result_cell(const RunSummary& run, std::string_view name, const std::optional<double>& best) {
  if (const auto number = number_of(run, name)) {
    if (number == best)
      return fmt::format("<td class=\"number best\">{} <small>best</small></td>", number_text(*number));
    return fmt::format("<td class=\"number\">{}</td>", number_text(*number));
  }
  const RunResult* const result = find_result(run, name);
  const std::string* const text = result == nullptr ? nullptr : std::get_if<std::string>(&result->value);
  return text == nullptr ? std::string(kNoCell)
                         : fmt::format("<td class=\"number\">{}</td>", html_text(*text));
}

// Of all runs, in the order of their first occurrence; those of quality first.
std::vector<std::string> result_names(const std::vector<RunSummary>& runs) {
  std::vector<std::string> names;
  for (const RunSummary& run : runs) {
    for (const RunResult& result : run.results)
      if (std::ranges::find(names, result.name) == names.end()) names.push_back(result.name);
  }
  std::ranges::stable_partition(names, [](const std::string& name) { return measure_of(name).is_quality; });
  return names;
}

std::string option_cell(const CommandOption* option) {
  return option == nullptr ? std::string(kNoCell) : fmt::format("<td>{}</td>", html_text(option->value));
}

}  // namespace

std::string run_heading(const RunSummary& run, std::size_t number) {
  return fmt::format(
      "<svg class=\"key\" width=\"14\" height=\"14\" viewBox=\"-7 -7 14 14\" aria-hidden=\"true\"><path "
      "class=\"{}\" "
      "d=\"{}\"/></svg>{}",
      colour_class(number), mark_path(number), html_text(run.name));
}

std::string results_table(const std::vector<RunSummary>& runs) {
  std::string html = head_of(runs, "result");
  for (const std::string& name : result_names(runs)) {
    const bool is_quality = measure_of(name).is_quality;
    html += fmt::format("<tr{}><th scope=\"row\">{}</th>", is_quality ? " class=\"quality\"" : "",
                        html_text(readable_name(name)));
    const auto best = best_of(runs, name);
    for (const RunSummary& run : runs) html += result_cell(run, name, best);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::string options_table(const std::vector<RunSummary>& runs) {
  std::vector<CommandOptions> commands;
  std::vector<std::string> names;
  for (const RunSummary& run : runs) {
    commands.push_back(options_of(run.command));
    for (const CommandOption& option : commands.back().options)
      if (std::ranges::find(names, option.name) == names.end()) names.push_back(option.name);
  }
  if (names.empty()) return {};
  std::string html = head_of(runs, "option");
  for (const std::string& name : names) {
    const auto value_of = [&](const CommandOptions& command) {
      const CommandOption* const option = command.find(name);
      return option == nullptr ? std::string() : option->value;
    };
    const bool differs = std::ranges::any_of(
        commands, [&](const CommandOptions& command) { return value_of(command) != value_of(commands[0]); });
    html +=
        fmt::format("<tr{}><th scope=\"row\">{}</th>", differs ? " class=\"differs\"" : "",
                    name.empty() ? std::string("input") : fmt::format("<code>{}</code>", html_text(name)));
    for (const CommandOptions& command : commands) html += option_cell(command.find(name));
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::string history_table(const RunSummary& run) {
  std::string html = "<table>\n<thead><tr><th scope=\"col\">epoch</th>";
  for (const RunSeries& series : run.history.series)
    html += fmt::format("<th scope=\"col\">{}</th>", html_text(readable_name(series.name)));
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t epoch = 0; epoch < run.history.epochs.size(); ++epoch) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", number_text(run.history.epochs[epoch]));
    for (const RunSeries& series : run.history.series)
      html += fmt::format("<td class=\"number\">{}</td>", number_text(series.values[epoch]));
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

}  // namespace lapse::apps
