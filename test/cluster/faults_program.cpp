// Works on tables of all kinds, saves and loads repeatedly, until it is killed or has done CYCLES cycles.
// First loads the newest checkpoint, if there is one, and checks all sums.
//   faults_program FOLDER CYCLES
// Prints a line `process RANK NUMBER` for each rank, and on rank 0: `loaded STEP`, `saved STEP`, and `stage
// NAME` when a stage begins.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/soak_tables.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;
using lapse::test::SoakSums;
using lapse::test::SoakTables;

class Job {
 public:
  explicit Job(const std::string& folder)
      : manager_(MPI_COMM_WORLD),
        tables_(manager_),
        checkpoints_(manager_.server(), {.folder = folder, .keep = 3}) {
    tables_.add_to(checkpoints_);
    // Nothing in the folder changes before the first save.
    if (!CheckpointFolder(folder).steps().empty()) {
      load();
      work(0);
    }
  }

  void cycle() {
    say("stage managing");
    work(100);
    say("stage saving");
    checkpoints_.save(++step_, {.global = SoakTables::to_text(sums_)});
    say_step("saved");
    say("stage saving_async");
    checkpoints_.save_async(++step_, {.global = SoakTables::to_text(sums_)});
    work(30);
    checkpoints_.finish();
    say_step("saved");
    say("stage loading");
    load();
  }
  void close() { manager_.close(); }

 private:
  void say(const char* what) const {
    if (manager_.rank() != Rank(0)) return;
    std::printf("%s\n", what);
    std::fflush(stdout);
  }
  void say_step(const char* what) const { say((std::string(what) + " " + std::to_string(step_)).c_str()); }

  // Checks the sums of all keys at the end.
  void work(int batches) {
    lapse::test::run_soak_phase(manager_, tables_, 2, ++phases_ + step_, batches, false, sums_);
  }
  void load() {
    const LoadedCheckpoint loaded = checkpoints_.load();
    for (const std::string& problem : loaded.problems) throw std::runtime_error("not whole: " + problem);
    step_ = loaded.step;
    sums_ = SoakTables::from_text(loaded.global);
    say_step("loaded");
  }

  adapm::ParameterManager manager_;
  SoakTables tables_;
  Checkpoints checkpoints_;
  SoakSums sums_ = SoakTables::no_sums();
  std::uint64_t step_ = 0;
  std::uint64_t phases_ = 0;
};

}  // namespace

int main(int argument_count, char** arguments) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::printf("process %d %d\n", rank, static_cast<int>(::getpid()));
  std::fflush(stdout);
  try {
    if (argument_count != 3) throw std::invalid_argument("expected FOLDER CYCLES");
    Job job(arguments[1]);
    for (int cycle = std::atoi(arguments[2]); cycle > 0; --cycle) {
      try {
        job.cycle();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: error: %s\n", rank, error.what());
        throw;
      }
    }
    job.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
