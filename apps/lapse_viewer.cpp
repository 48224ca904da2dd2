// Answers questions about traces of allocation, and makes a page of them, without MPI.
//   lapse-viewer summary traces/factors
//   lapse-viewer key traces/factors --key 17 --time 0.5
//   lapse-viewer page out.html static=traces/static dynamic=traces/dynamic
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/commands.hpp"
#include "apps/viewer/page_file.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/version.hpp"

namespace {

struct ViewerOptions {
  std::string prefix;
  std::string table;
  std::uint64_t key = 0;
  std::optional<double> seconds;
  std::size_t count = 20;
  bool returns = false;
  std::string page;
  std::vector<std::string> runs;
};

CLI::App* add_question(CLI::App& app, ViewerOptions& options, const std::string& name,
                       const std::string& text) {
  CLI::App* const command = app.add_subcommand(name, text);
  command
      ->add_option("trace", options.prefix,
                   "The option allocation_trace of the run: its files are TRACE.0, TRACE.1, ...")
      ->required();
  return command;
}

CLI::App* add_table_question(CLI::App& app, ViewerOptions& options, const std::string& name,
                             const std::string& text) {
  CLI::App* const command = add_question(app, options, name, text);
  command->add_option("--table", options.table, "Name of the table; may be left out where there is one");
  return command;
}

// "name=prefix", or a prefix, whose last part is the name.
lapse::apps::PageRun page_run(const std::string& text) {
  const std::size_t sign = text.find('=');
  const std::string prefix = sign == std::string::npos ? text : text.substr(sign + 1);
  const std::string name =
      sign == std::string::npos ? prefix.substr(prefix.rfind('/') + 1) : text.substr(0, sign);
  return {.name = name, .paths = lapse::apps::trace_paths(prefix)};
}

void write_page(const ViewerOptions& options) {
  std::vector<lapse::apps::PageRun> runs;
  for (const std::string& run : options.runs) runs.push_back(page_run(run));
  const std::string page = lapse::apps::page_of(runs);
  std::ofstream file(options.page, std::ios::binary);
  file.write(page.data(), static_cast<std::streamsize>(page.size()));
  file.close();
  if (!file) throw lapse::FileError(options.page, "cannot be written");
  fmt::print("{}: {} runs, {:.1f} MB\n", options.page, runs.size(), static_cast<double>(page.size()) * 1e-6);
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Shows where parameters were and when they moved; needs no MPI.", "lapse-viewer");
  app.set_version_flag("--version", std::string("lapse ") + lapse::library_version_text(),
                       "Print the version and end");
  app.require_subcommand(1);
  ViewerOptions options;
  CLI::App* const summary = add_question(app, options, "summary", "Ranks, tables, relocations and replicas");
  CLI::App* const key = add_table_question(app, options, "key", "Who had a key, at a time or at all times");
  key->add_option("--key", options.key, "The key")->required();
  key->add_option("--time", options.seconds, "Seconds since the first table was made")
      ->check(CLI::Range(0.0, 1e9));
  CLI::App* const moves = add_table_question(app, options, "moves", "The keys that moved most often");
  moves->add_option("--top", options.count, "How many")->capture_default_str();
  moves->add_flag("--back", options.returns, "By moves back to where the key came from");
  CLI::App* const rates = add_table_question(app, options, "rates", "Relocations and replicas by time");
  rates->add_option("--intervals", options.count, "How many")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  CLI::App* const page = app.add_subcommand("page", "One HTML file that shows runs in a browser");
  page->add_option("file", options.page, "The file to write")->required();
  page->add_option("runs", options.runs, "NAME=TRACE or TRACE of each run")->required();
  CLI11_PARSE(app, argument_count, arguments);

  try {
    if (page->parsed()) {
      write_page(options);
      return 0;
    }
    const lapse::apps::Allocation allocation = lapse::apps::read_allocation(options.prefix);
    if (summary->parsed()) {
      lapse::apps::print_trace_summary(allocation, stdout);
      return 0;
    }
    const lapse::apps::TableAllocation& table = lapse::apps::chosen_table(allocation, options.table);
    if (key->parsed()) lapse::apps::print_key(table, options.key, options.seconds, stdout);
    if (moves->parsed()) lapse::apps::print_moves(table, options.count, options.returns, stdout);
    if (rates->parsed()) lapse::apps::print_rates(allocation, table, options.count, stdout);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
