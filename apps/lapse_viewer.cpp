// Answers questions about traces of allocation, and makes a page of them, without MPI.
//   lapse-viewer summary traces/factors
//   lapse-viewer key traces/factors --key 17 --time 0.5
//   lapse-viewer page out.html static=traces/static dynamic=traces/dynamic
//   lapse-viewer serve traces/running
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/viewer/commands.hpp"
#include "apps/viewer/optimum.hpp"
#include "apps/viewer/optimum_report.hpp"
#include "apps/viewer/page_file.hpp"
#include "apps/viewer/trace_server.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/version.hpp"

namespace {

struct ViewerOptions {
  std::string prefix;
  std::string table;
  std::uint64_t key = 0;
  std::optional<double> seconds;
  std::size_t count = 20;  // of keys or intervals
  std::size_t worst_keys = 0;
  bool returns = false;
  std::string costs;
  std::uint64_t value_bytes = 0;
  bool json = false;
  std::string page;
  std::vector<std::string> runs;
  std::uint16_t port = 0;
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
lapse::apps::ServedRun named_run(const std::string& text) {
  const std::size_t sign = text.find('=');
  const std::string prefix = sign == std::string::npos ? text : text.substr(sign + 1);
  return {.name = sign == std::string::npos ? prefix.substr(prefix.rfind('/') + 1) : text.substr(0, sign),
          .prefix = prefix};
}

void serve(const ViewerOptions& options) {
  std::vector<lapse::apps::ServedRun> runs;
  for (const std::string& run : options.runs) runs.push_back(named_run(run));
  lapse::apps::TraceServer server(std::move(runs), options.port);
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  server.run();
}

lapse::apps::TableOptimum optimum_of(const ViewerOptions& options,
                                     const lapse::apps::TableAllocation& table) {
  if (!options.costs.empty())
    return lapse::apps::optimum_of(table, lapse::apps::parse_costs(options.costs), "cost");
  lapse::apps::ValueBytes bytes{table.value_bytes, table.content_bytes, table.delta_bytes};
  if (options.value_bytes > 0) bytes = {options.value_bytes, options.value_bytes, options.value_bytes};
  if (bytes.value == 0)
    throw lapse::ConfigurationError(fmt::format(
        "the trace has no size of values of table '{}': expected the option --value-bytes", table.name));
  return lapse::apps::optimum_of(table, lapse::apps::byte_costs(bytes), "bytes");
}

// Of the named table, otherwise of all that have what is needed.
void print_optima(const ViewerOptions& options, lapse::apps::Allocation allocation) {
  if (!options.table.empty()) lapse::apps::chosen_table(allocation, options.table);
  if (allocation.dropped) lapse::apps::forget_after(allocation, *allocation.dropped);
  std::vector<lapse::apps::TableOptimum> optima;
  std::vector<std::string> left_out;
  for (const lapse::apps::TableAllocation& table : allocation.tables) {
    if (!options.table.empty() && table.name != options.table) continue;
    try {
      optima.push_back(optimum_of(options, table));
    } catch (const lapse::ConfigurationError& error) {
      left_out.emplace_back(error.what());
    }
  }
  if (optima.empty())
    throw lapse::ConfigurationError(left_out.empty() ? "the trace has no tables" : left_out.front());
  if (options.json) {
    fmt::print("{}\n", lapse::apps::optima_json(optima, allocation));
    return;
  }
  for (const std::string& reason : left_out) fmt::print("left out: {}\n", reason);
  if (allocation.dropped)
    fmt::print("only until {:.3f} s: later events are not all recorded, for the limit of bytes\n",
               static_cast<double>(*allocation.dropped) * 1e-9);
  for (std::size_t i = 0; i < optima.size(); ++i) {
    if (i > 0) fmt::print("\n");
    lapse::apps::print_optimum(optima[i], options.worst_keys, stdout);
  }
}

void write_page(const ViewerOptions& options) {
  std::vector<lapse::apps::PageRun> runs;
  for (const std::string& text : options.runs) {
    const lapse::apps::ServedRun run = named_run(text);
    runs.push_back({.name = run.name, .paths = lapse::apps::trace_paths(run.prefix)});
  }
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
  CLI::App* const optimum =
      add_table_question(app, options, "optimum", "What ran beside the least that would have done");
  optimum->add_option("--top", options.worst_keys, "How many keys to show, those that lost most");
  optimum->add_option("--costs", options.costs,
                      "Of one key, in any unit, in place of bytes: read=1,write=1,move=2,set_up=3,delta=1,"
                      "refresh=1,drop=0");
  optimum->add_flag("--json", options.json, "As JSON, without single keys");
  optimum->add_option("--value-bytes", options.value_bytes, "Of each key, in place of what the trace says")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U));
  CLI::App* const page = app.add_subcommand("page", "One HTML file that shows runs in a browser");
  page->add_option("file", options.page, "The file to write")->required();
  page->add_option("runs", options.runs, "NAME=TRACE or TRACE of each run")->required();
  CLI::App* const served = app.add_subcommand(
      "serve", "The page for a browser on this machine, which follows runs while they write their traces");
  served->add_option("runs", options.runs, "NAME=TRACE or TRACE of each run; its files may not exist yet")
      ->required();
  served->add_option("--port", options.port, "Of 127.0.0.1; 0: a free one")->capture_default_str();
  CLI11_PARSE(app, argument_count, arguments);

  try {
    if (page->parsed()) {
      write_page(options);
      return 0;
    }
    if (served->parsed()) {
      serve(options);
      return 0;
    }
    const lapse::apps::Allocation allocation = lapse::apps::read_allocation(options.prefix);
    if (summary->parsed()) {
      lapse::apps::print_trace_summary(allocation, stdout);
      return 0;
    }
    if (optimum->parsed()) {
      print_optima(options, allocation);
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
