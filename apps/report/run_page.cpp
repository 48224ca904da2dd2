#include "apps/report/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "apps/html/html_text.hpp"
#include "apps/report/command_options.hpp"
#include "apps/report/line_chart.hpp"
#include "apps/report/page_document.hpp"
#include "apps/report/run_charts.hpp"
#include "apps/report/run_tables.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

// "matrix_factorization", or of several programs "a, b"; "" if no run has a command.
std::string programs_of(const std::vector<RunSummary>& runs) {
  std::vector<std::string> programs;
  for (const RunSummary& run : runs) {
    const std::string program = options_of(run.command).program;
    if (!program.empty() && std::ranges::find(programs, program) == programs.end())
      programs.push_back(program);
  }
  std::string text;
  for (const std::string& program : programs) text += (text.empty() ? "" : ", ") + program;
  return text;
}

std::string page_title(const std::vector<RunSummary>& runs) {
  const std::string programs = programs_of(runs);
  if (runs.size() > 1)
    return fmt::format("{} runs{}", runs.size(), programs.empty() ? "" : " of " + programs);
  const std::string& name = runs[0].name;
  if (programs.empty() || programs == name) return "Run: " + name;
  return fmt::format("Run of {}: {}", programs, name);
}

std::string run_article(const RunSummary& run, std::size_t number) {
  std::string html = fmt::format("<article class=\"run\">\n<h3>{}</h3>\n", run_heading(run, number));
  if (!run.data.empty()) html += fmt::format("<p class=\"data\">{}</p>\n", html_text(run.data));
  if (!run.command.empty()) html += fmt::format("<pre>{}</pre>\n", html_text(run.command));
  std::string origin = run.version.empty() ? "" : "lapse " + run.version;
  if (!run.ended.empty()) origin += (origin.empty() ? "ended " : ", ended ") + run.ended;
  const std::size_t epochs = run.history.epochs.size();
  origin += fmt::format("{}{} {}", origin.empty() ? "" : ", ", epochs, epochs == 1 ? "epoch" : "epochs");
  return html + fmt::format("<p class=\"quiet\">{}</p>\n</article>\n", html_text(origin));
}

// Empty for a chart with fewer points on each line.
std::string figure_of(const LineChart& chart, std::size_t min_points) {
  return shown_points(chart) < min_points ? std::string()
                                          : fmt::format("<figure>\n{}</figure>\n", draw_lines(chart));
}

// Of each series a chart by epoch and, with `by_time`, one by time.
std::string figures_of(const std::vector<RunSummary>& runs, const std::vector<std::string>& series,
                       bool by_time) {
  std::string html;
  for (const std::string& name : series) {
    html += figure_of(chart_of(runs, name, ChartBy::epoch), 1);
    if (by_time) html += figure_of(chart_of(runs, name, ChartBy::time), 2);
  }
  return html.empty() ? html : fmt::format("<div class=\"charts\">\n{}</div>\n", html);
}

std::string section(std::string_view heading, const std::string& content) {
  return content.empty() ? content : fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", heading, content);
}

std::string scrolled(const std::string& table) {
  return table.empty() ? table : "<div class=\"scroll\" tabindex=\"0\">\n" + table + "</div>\n";
}

std::string details(std::string_view summary, const std::string& content) {
  return content.empty() ? content
                         : fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", summary, content);
}

}  // namespace

std::string run_page(const std::vector<RunSummary>& runs) {
  if (runs.empty()) throw ConfigurationError("a report without runs: expected one or more");
  std::set<std::string> names;
  std::string articles;
  for (std::size_t number = 0; number < runs.size(); ++number) {
    if (!names.insert(runs[number].name).second) {
      throw ConfigurationError(
          fmt::format("there are two runs '{}': NAME=FILE gives one another name", runs[number].name));
    }
    articles += run_article(runs[number], number);
  }
  std::string body = "<div class=\"runs\">\n" + articles + "</div>\n";
  const SeriesNames series = series_names(runs);
  body += section("Loss and quality", figures_of(runs, series.qualities, true));
  body += section("Time and communication", figures_of(runs, series.costs, false));
  body +=
      fmt::format("<div class=\"tables\">\n{}{}</div>\n", section("Results", scrolled(results_table(runs))),
                  section("Options", scrolled(options_table(runs))));
  std::string more = details("Charts of other numbers", figures_of(runs, series.others, false));
  for (const RunSummary& run : runs) {
    if (run.history.series.empty()) continue;
    more += details("Numbers of each epoch: " + html_text(run.name), scrolled(history_table(run)));
  }
  body += section("More", more);
  return page_document(page_title(runs), body);
}

}  // namespace lapse::apps
