// Loads the newest checkpoint of a folder, if there is one, and saves further ones, until it is killed or has
// saved so many. Every value is the number of its step.
//   checkpoints_program FOLDER LAST_STEP
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/ps/checkpoints.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/server_expect.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

constexpr std::uint64_t kKeys = 3000;
constexpr std::size_t kLength = 16;

void run(const std::string& folder, std::uint64_t last_step) {
  ParameterServer server(MPI_COMM_WORLD);
  const bool reports = server.rank() == Rank(0);
  const auto table = server.create_table<float>({.name = "table", .keys = kKeys, .length = kLength});
  const auto sparse = server.create_table<std::int64_t>({.name = "sparse", .sparse = true});
  Checkpoints checkpoints(server, {.folder = folder, .keep = 3});
  checkpoints.add(table);
  checkpoints.add(sparse);
  const std::vector<Key> keys = key_range(0, kKeys);
  // What is there does not change before the first save.
  const bool begun = !CheckpointFolder(folder).steps().empty();
  std::uint64_t step = 0;
  if (begun) {
    const LoadedCheckpoint loaded = checkpoints.load();
    expect(loaded.problems.empty(), "whole checkpoints");
    step = loaded.step;
    expect(loaded.global == std::to_string(step), "the content of step " + std::to_string(step));
    server.run_workers(1, [&](Worker& worker) {
      std::vector<float> values(kKeys * kLength);
      worker.pull(table, keys, values).wait();
      expect(values == std::vector<float>(kKeys * kLength, static_cast<float>(step)), "values of the step");
      std::vector<std::int64_t> numbers(kKeys);
      worker.pull(sparse, keys, numbers).wait();
      expect(numbers == std::vector<std::int64_t>(kKeys, static_cast<std::int64_t>(step)),
             "sparse values of the step");
    });
    if (reports) std::printf("loaded %llu\n", static_cast<unsigned long long>(step));
  }
  while (step < last_step) {
    ++step;
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() != 0) return;
      worker.set(table, keys, std::vector<float>(kKeys * kLength, static_cast<float>(step)));
      worker.set(sparse, keys, std::vector<std::int64_t>(kKeys, static_cast<std::int64_t>(step)));
    });
    checkpoints.save(step, {.global = std::to_string(step)});
    if (reports) std::printf("saved %llu\n", static_cast<unsigned long long>(step));
    std::fflush(stdout);
  }
  server.close();
}

}  // namespace

int main(int argument_count, char** arguments) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_SERIALIZED, &provided);
  std::printf("process %d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  try {
    if (argument_count != 3) throw std::invalid_argument("expected FOLDER LAST_STEP");
    run(arguments[1], std::strtoull(arguments[2], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
