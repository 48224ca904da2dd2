#include "bench/support/bench.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <utility>

#include "bench/support/server.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/transport/mpi/environment.hpp"

namespace lapse::bench {

namespace {

void write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name);
  file << text;
  file.close();
  if (!file) throw FileError(name, "the results cannot be written");
}

}  // namespace

Bench::Bench(Settings settings) : settings_(std::move(settings)) {
  MPI_Comm_dup(MPI_COMM_WORLD, &plain_);
  MPI_Comm_rank(plain_, &rank_);
  MPI_Comm_size(plain_, &ranks_);
}

Bench::~Bench() {
  MPI_Comm_free(&plain_);
}

bool Bench::selected(std::string_view name) const {
  return settings_.cases.empty() || std::ranges::find(settings_.cases, name) != settings_.cases.end();
}

std::size_t Bench::runs(std::size_t usual) const {
  if (settings_.runs != 0) return settings_.runs;
  return settings_.smoke ? 1 : usual;
}

void Bench::measure(const Case& what, std::size_t usual_runs, const std::function<double()>& value,
                    std::string_view baseline_name, const std::function<double()>& baseline) {
  Series series;
  value();
  if (baselines()) baseline();
  for (std::size_t run = 0; run < runs(usual_runs); ++run) {
    series.values.push_back(value());
    if (baselines()) series.baselines.push_back(baseline());
  }
  add(what, baseline_name, series);
}

void Bench::measure_with_waiting(const Case& what, std::size_t usual_runs,
                                 const std::function<double()>& value, std::string_view baseline_name,
                                 const std::function<double()>& baseline,
                                 const std::function<double()>& waiting) {
  if (!baselines()) return measure(what, usual_runs, value, baseline_name, baseline);
  Series by_plain;
  Series by_waiting;
  for (std::size_t run = 0; run <= runs(usual_runs); ++run) {
    const double figures[] = {value(), baseline(), waiting()};
    if (run == 0) continue;  // to warm up
    by_plain.values.push_back(figures[0]);
    by_plain.baselines.push_back(figures[1]);
    by_waiting.baselines.push_back(figures[2]);
  }
  by_waiting.values = by_plain.values;
  add(what, baseline_name, by_plain);
  Case compared = what;
  compared.name += " / waiting";
  add(compared, "each call waited for", by_waiting);
}

void Bench::add(const Case& what, std::string_view baseline_name, const Series& series) {
  if (rank_ != 0) return;
  Result result = summarize(what, baseline_name, series);
  if (what.domain.empty()) result.what.domain = domain_of(quiet_options());
  fmt::print(stderr, "{:<36} {:<10} {:>12.5g} {}", what.name, what.metric, result.value, what.unit);
  if (result.baseline)
    fmt::print(stderr, "; {} {:.5g}, ratio {:.2f}", result.baseline_name, *result.baseline, *result.ratio);
  fmt::print(stderr, "\n");
  results_.push_back(result);
}

void Bench::add_file(std::string_view extension, std::string text) {
  files_.emplace_back(extension, std::move(text));
}

void Bench::write() const {
  if (rank_ != 0 || settings_.out.empty()) return;
  write_file(settings_.out, to_json(results_));
  for (const auto& [extension, text] : files_) {
    write_file(std::filesystem::path(settings_.out).replace_extension(extension).string(), text);
  }
}

int run_benchmark(int argc, char** argv, const std::string& description,
                  const std::function<void(Bench&)>& body) {
  Settings settings;
  CLI::App app(description);
  app.add_option("--out", settings.out, "file for the results as JSON");
  app.add_option("--case", settings.cases, "only this case; may be given several times");
  app.add_option("--runs", settings.runs, "measurements of each case, of which the median counts");
  app.add_option("--workers", settings.workers, "of each rank, in benchmarks that leave it open");
  app.add_option("--megabytes", settings.megabytes, "of data, in benchmarks that leave it open");
  app.add_option("--folder", settings.folder, "for files, in benchmarks that write some; else /tmp");
  app.add_flag("--twins,!--no-twins", settings.baselines, "run the plain programs beside the cases");
  app.add_flag("--smoke", settings.smoke, "tiny sizes, only to see that everything works");
  CLI11_PARSE(app, argc, argv);

  prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  try {
    Bench bench(settings);
    body(bench);
    bench.write();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace lapse::bench
