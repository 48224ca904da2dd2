// Checkpoints that are first written to a folder of the host.
#include <mpi.h>

#include <filesystem>
#include <thread>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/core/error.hpp"
#include "test/mpi/checkpoints_tables.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

CheckpointSettings settings_of(const SharedFolder& folder) {
  return {.folder = folder.path(), .local_folder = folder.path() + "-local", .keep = 2};
}

// A job with one worker per rank, which may end at any time.
class LocalJob {
 public:
  explicit LocalJob(const SharedFolder& folder, MPI_Comm communicator = MPI_COMM_WORLD)
      : server_(communicator), tables_(server_), checkpoints_(server_, settings_of(folder)) {
    tables_.add_to(checkpoints_);
  }
  ~LocalJob() { server_.close(); }
  LocalJob(const LocalJob&) = delete;
  LocalJob& operator=(const LocalJob&) = delete;

  ParameterServer& server() { return server_; }
  Checkpoints& checkpoints() { return checkpoints_; }
  void push() {
    server_.run_workers(1, [&](Worker& worker) {
      tables_.push_to_all(worker, 3);
      worker.barrier();
      tables_.move_some(worker);
    });
  }
  std::vector<double> values() { return observed_values(server_, tables_, false); }
  CheckpointContent content() const {
    const std::string rank = std::to_string(server_.rank().value());
    return {.global = "of rank " + rank, .per_worker = {rank, ""}, .clocks = {Clock(server_.rank().value())}};
  }
  void wait_until_staged() {
    while (!checkpoints_.staged()) std::this_thread::yield();
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  ParameterServer server_;
  SavedTables tables_;
  Checkpoints checkpoints_;
};

std::size_t files_below(const std::string& path) {
  std::size_t files = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error))
    files += entry.is_regular_file() && entry.path().parent_path() != path ? 1 : 0;
  return files;
}

}  // namespace

TEST_CASE("A job that ends before the files are copied leaves its checkpoint on the hosts") {
  const SharedFolder folder;
  std::vector<double> first;
  std::vector<double> second;
  {
    LocalJob job(folder);
    job.push();
    first = job.values();
    job.checkpoints().save(1, job.content());
    CHECK(job.checkpoints().staged());
    job.checkpoints().finish();
    job.push();
    second = job.values();
    job.checkpoints().save_async(2, job.content());
    job.wait_until_staged();
  }
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{1});
  {
    LocalJob job(folder);
    const LoadedCheckpoint loaded = job.checkpoints().load();
    CHECK(loaded.step == 2);
    CHECK(loaded.problems.empty());
    CHECK(loaded.global == "of rank 0");
    const auto ranks = static_cast<std::size_t>(job.server().ranks());
    CHECK(loaded.ranks == job.server().ranks());
    REQUIRE(loaded.per_worker.size() == 2 * ranks);
    CHECK(loaded.per_worker[2 * ranks - 2] == std::to_string(ranks - 1));
    CHECK(loaded.clocks.back() == Clock(static_cast<std::int64_t>(ranks) - 1));
    CHECK(job.values() == second);
    // An older checkpoint is loaded by its step from the folder of all ranks; step 7 is in neither folder.
    CHECK(job.checkpoints().load({.step = 1}).step == 1);
    CHECK(job.values() == first);
    CHECK(contains(thrown_text<CheckpointError>([&] { job.checkpoints().load({.step = 7}); }), "step-7"));
  }
  // The part of one rank is lost with its host.
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "-local/step-2"))
      if (entry.path().string().find("-r0.") != std::string::npos) std::filesystem::remove(entry.path());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  LocalJob job(folder);
  const LoadedCheckpoint loaded = job.checkpoints().load();
  CHECK(loaded.step == 1);
  CHECK(job.values() == first);
  if (job.server().ranks() > 1) {
    REQUIRE(loaded.problems.size() == 1);
    CHECK(contains(loaded.problems[0], "parts in the local folders of these hosts"));
    CHECK(contains(thrown_text<CheckpointError>([&] { job.checkpoints().load({.step = 2}); }),
                   "parts in the local folders of these hosts"));
  }
}

TEST_CASE("What has been copied is in the folder of all ranks alone") {
  const SharedFolder folder;
  std::vector<double> values;
  {
    LocalJob job(folder);
    for (const std::uint64_t step : {1, 2, 3}) {
      job.push();
      job.checkpoints().save_async(step);
    }
    job.checkpoints().finish();
    CHECK(job.checkpoints().done());
    values = job.values();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(CheckpointFolder(folder.path()).steps() == std::vector<std::uint64_t>{2, 3});
  const CheckpointFolder written(folder.path());
  written.check(written.manifest(3), CheckpointFolder::Check::contents);
  CHECK(files_below(folder.path() + "-local") == 0);
  LocalJob job(folder);
  const LoadedCheckpoint loaded = job.checkpoints().load();
  CHECK(loaded.step == 3);
  CHECK(!loaded.only_local);
  CHECK(job.values() == values);
}

TEST_CASE("Another number of ranks of the same hosts loads what they have") {
  const SharedFolder folder;
  std::vector<double> values;
  {
    LocalJob job(folder);
    job.push();
    job.checkpoints().save_async(5);
    job.wait_until_staged();
    values = job.values();
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &part);
  if (part != MPI_COMM_NULL) {
    {
      LocalJob job(folder, part);
      CHECK(job.checkpoints().load().step == 5);
      const auto loaded = job.values();
      CHECK((rank != 0 || loaded == values));
    }
    MPI_Comm_free(&part);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("A local folder that is the folder of all ranks, or cannot be written to") {
  const SharedFolder folder;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "table", .keys = 5});
  for (const std::string& same : {folder.path(), folder.path() + "/", folder.path() + "/../checkpoints"}) {
    CHECK(contains(thrown_text<UsageError>(
                       [&] { Checkpoints(server, {.folder = folder.path(), .local_folder = same}); }),
                   "is the folder of all ranks"));
  }
  Checkpoints checkpoints(server, {.folder = folder.path(), .local_folder = "/proc/lapse"});
  checkpoints.add(table);
  CHECK(contains(thrown_text<CheckpointError>([&] { checkpoints.save(1); }), "/proc/lapse"));
  CHECK(CheckpointFolder(folder.path()).steps().empty());
  server.close();
}
