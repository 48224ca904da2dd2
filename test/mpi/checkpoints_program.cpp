// Loads the newest checkpoint of a folder, if there is one, and saves more of them, until it is killed or has
// saved step LAST_STEP. Every value is the number of its step. With a local folder, in which %h stands for
// the name of the host, the last checkpoint is only there.
//   checkpoints_program FOLDER LAST_STEP [LOCAL_FOLDER]
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/server_expect.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

constexpr std::uint64_t kKeys = 3000;
constexpr std::size_t kLength = 16;

std::string with_host(std::string path) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  if (const std::size_t at = path.find("%h"); at != std::string::npos) path.replace(at, 2, name.data());
  return path;
}

void run(const std::string& folder, std::uint64_t last_step, const std::string& local_folder) {
  ParameterServer server(MPI_COMM_WORLD);
  const bool reports = server.rank() == Rank(0);
  const auto table = server.create_table<float>({.name = "table", .keys = kKeys, .length = kLength});
  const auto sparse = server.create_table<std::int64_t>({.name = "sparse", .sparse = true});
  Checkpoints checkpoints(server, {.folder = folder, .local_folder = local_folder, .keep = 3});
  checkpoints.add(table);
  checkpoints.add(sparse);
  const std::vector<Key> keys = key_range(0, kKeys);
  // Nothing in the folder changes before the first save.
  const bool begun = !CheckpointFolder(folder).steps().empty();
  std::uint64_t step = 0;
  if (begun) {
    const LoadedCheckpoint loaded = checkpoints.load();
    expect(loaded.problems.empty() || !local_folder.empty(), "whole checkpoints");
    for (const std::string& problem : loaded.problems)
      if (reports) std::printf("problem: %s\n", problem.c_str());
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
    if (argument_count != 3 && argument_count != 4)
      throw std::invalid_argument("expected FOLDER LAST_STEP [LOCAL_FOLDER]");
    run(arguments[1], std::strtoull(arguments[2], nullptr, 10),
        argument_count == 4 ? with_host(arguments[3]) : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
