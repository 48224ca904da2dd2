// Draws runs and what they have trained, without MPI.
//   lapse-report page out.html static=static.json adaptive=adaptive.json
//   lapse-report chart out.svg --series test_rmse static=static.json adaptive=adaptive.json
//   lapse-report embedding out.html out/words.txt
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "apps/answers/model_questions.hpp"
#include "apps/common/model_description.hpp"
#include "apps/common/option_values.hpp"
#include "apps/common/summary.hpp"
#include "apps/report/embedding_page.hpp"
#include "apps/report/line_chart.hpp"
#include "apps/report/run_charts.hpp"
#include "apps/report/run_page.hpp"
#include "apps/report/run_summary.hpp"
#include "apps/report/svg.hpp"
#include "apps/report_tool/chosen_rows.hpp"
#include "lapse/core/version.hpp"

namespace {

using namespace lapse::apps;

struct ReportOptions {
  std::string output;
  std::vector<std::string> runs;
  std::vector<std::string> series;
  ChartBy by = ChartBy::epoch;
  std::string model;
  std::string of;
  RowChoice rows;
};

CLI::App* add_command(CLI::App& app, ReportOptions& options, const std::string& name,
                      const std::string& meaning, const std::string& output) {
  CLI::App* const command = app.add_subcommand(name, meaning);
  command->add_option("output", options.output, output)->required()->check(file_name());
  return command;
}

void add_runs(CLI::App& command, ReportOptions& options) {
  command
      .add_option(
          "runs", options.runs,
          "The files that --summary-json has written, as NAME=FILE, or as FILE, whose name without its "
          "ending is that of the run")
      ->required();
}

CLI::App* add_page(CLI::App& app, ReportOptions& options) {
  CLI::App* const page = add_command(
      app, options, "page", "A page with charts and tables of runs, side by side", "HTML file to write");
  add_runs(*page, options);
  return page;
}

CLI::App* add_chart(CLI::App& app, ReportOptions& options) {
  CLI::App* const chart =
      add_command(app, options, "chart", "A chart of numbers of runs by epoch or time", "SVG file to write");
  chart
      ->add_option("--series", options.series,
                   "Number of each epoch, such as test_rmse or 'valid all mrr'; may be repeated")
      ->required()
      ->allow_extra_args(false);
  add_names(*chart, "--by", options.by,
            std::map<std::string, ChartBy>{{"epoch", ChartBy::epoch}, {"time", ChartBy::time}},
            "What is along the chart");
  add_runs(*chart, options);
  return chart;
}

CLI::App* add_embedding(CLI::App& app, ReportOptions& options) {
  CLI::App* const embedding =
      add_command(app, options, "embedding", "A page with the rows of a model, projected to two dimensions",
                  "HTML file to write");
  embedding
      ->add_option("model", options.model,
                   "What the application was given to write the model to; its description is MODEL.json")
      ->required();
  embedding
      ->add_option("--of", options.of,
                   "rows or columns (default) of a matrix; entities (default) or relations of a graph")
      ->check(CLI::IsMember({"rows", "columns", "entities", "relations"}));
  CLI::Option* const labels =
      embedding
          ->add_option(
              "--labels", options.rows.labels,
              "File with the name of a row on each line, which is shown beside its point; after a tab a text "
              "to show instead, after another tab a group")
          ->check(file_name());
  embedding
      ->add_option("--label-count", options.rows.label_count,
                   "Without --labels: so many frequent names are shown")
      ->check(CLI::Range(0, 100000))
      ->excludes(labels)
      ->capture_default_str();
  embedding
      ->add_option("--points", options.rows.points,
                   "Rows to draw, those with the most frequent names; 0: all")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  embedding->add_flag("--unit-length", options.rows.unit_length,
                      "Divide each row by its length, so that directions alone count, as for cosines");
  return embedding;
}

// "name=file", or a file.
RunSummary read_run(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign != std::string::npos) return read_run_summary(text.substr(sign + 1), text.substr(0, sign));
  const std::string file = text.substr(text.rfind('/') + 1);
  return read_run_summary(text, file.ends_with(".json") ? file.substr(0, file.size() - 5) : file);
}

std::string made(const CLI::App& app, const ReportOptions& options) {
  if (app.got_subcommand("embedding")) {
    const ModelDescription model = ModelDescription::read(options.model);
    EmbeddingRows rows = choose_rows(model_rows(model, options.of), options.rows);
    rows.title = fmt::format("{}: {}", options.model, options.of.empty() ? model.kind() : options.of);
    rows.origin = model.command();
    return embedding_page(rows);
  }
  std::vector<RunSummary> runs;
  for (const std::string& run : options.runs) runs.push_back(read_run(run));
  if (app.got_subcommand("page")) return run_page(runs);
  return svg_document(draw_lines(chart_of(runs, options.series, options.by)));
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Draws runs of the applications, and what they have trained; needs no MPI.", "lapse-report");
  app.set_version_flag("--version", std::string("lapse ") + lapse::library_version_text(),
                       "Print the version and end");
  app.require_subcommand(1);
  ReportOptions options;
  add_page(app, options);
  add_chart(app, options);
  add_embedding(app, options);
  CLI11_PARSE(app, argument_count, arguments);

  try {
    const std::string output = made(app, options);
    write_text_file(options.output, output);
    fmt::print("{}: {:.1f} kB\n", options.output, static_cast<double>(output.size()) * 1e-3);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  return 0;
}
