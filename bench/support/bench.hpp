// The frame of a benchmark program: MPI, options, repetition, results.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/support/report.hpp"

namespace lapse::bench {

// Options of the command line, equal on every rank.
struct Settings {
  std::string out;                 // file for the results as JSON; empty: none
  std::vector<std::string> cases;  // only these; empty: all
  std::size_t runs = 0;            // of each case; 0: the benchmark's default
  bool baselines = true;           // false: only the server's part, for profiles
  std::int32_t workers = 0;        // of each rank; 0: the benchmark's default
  std::size_t megabytes = 0;       // of data, in benchmarks with this option; 0: their default
  std::string folder;              // for files, in benchmarks that write files; empty: one in /tmp
  bool smoke = false;              // tiny sizes, to test that everything works; figures are meaningless
};

// One object on each rank, used by its main thread. Rank 0 keeps the results.
class Bench {
 public:
  explicit Bench(Settings settings);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  // For the baselines: a communicator of all ranks that no server uses.
  MPI_Comm plain() const { return plain_; }

  // Whether the case was requested; equal on every rank.
  bool selected(std::string_view name) const;
  std::size_t runs(std::size_t usual) const;
  // Workers of each rank, in benchmarks with this option.
  std::size_t workers(std::size_t usual = 1) const {
    return settings_.workers > 0 ? static_cast<std::size_t>(settings_.workers) : usual;
  }
  // Megabytes of data, in benchmarks with this option.
  std::size_t megabytes(std::size_t usual, std::size_t tiny) const {
    return settings_.megabytes != 0 ? settings_.megabytes : size(usual, tiny);
  }
  // A folder in which a benchmark may create folders.
  std::string folder() const { return settings_.folder.empty() ? "/tmp" : settings_.folder; }
  // Whether to run baselines.
  bool baselines() const { return settings_.baselines; }
  // The size of a workload: `usual`, or `tiny` in a smoke test.
  std::size_t size(std::size_t usual, std::size_t tiny) const { return settings_.smoke ? tiny : usual; }

  // Runs value() and baseline() in turn, once for warm-up and then `usual_runs` times, and adds the result.
  // Collective if the functions are; only rank 0's measurements count.
  void measure(const Case& what, std::size_t usual_runs, const std::function<double()>& value,
               std::string_view baseline_name, const std::function<double()>& baseline);
  // The same for asynchronous calls. In turn with both, runs waiting(), which waits for each of these calls,
  // and adds a case "NAME / waiting" with it as the baseline.
  void measure_with_waiting(const Case& what, std::size_t usual_runs, const std::function<double()>& value,
                            std::string_view baseline_name, const std::function<double()>& baseline,
                            const std::function<double()>& waiting);
  // On rank 0, prints the result and keeps it.
  void add(const Case& what, std::string_view baseline_name, const Series& series);

  // Keeps a file of measurements for write(): named like Settings::out, with `extension` instead of its own.
  void add_file(std::string_view extension, std::string text);

  // Writes the results to Settings::out and the other files. Throws FileError.
  void write() const;

 private:
  Settings settings_;
  MPI_Comm plain_ = MPI_COMM_NULL;
  std::int32_t rank_ = 0;
  std::int32_t ranks_ = 0;
  std::vector<Result> results_;
  std::vector<std::pair<std::string, std::string>> files_;  // extension, text
};

// The main function of a benchmark: initialises MPI, reads the options, calls `body`, writes the results. An
// exception ends the whole job.
int run_benchmark(int argc, char** argv, const std::string& description,
                  const std::function<void(Bench&)>& body);

}  // namespace lapse::bench
