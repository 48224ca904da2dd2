// A vector that workers change in place, block by block: a lease gives one worker a block as plain memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <vector>

#include "lapse/ps/lease.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"

constexpr std::size_t kBlocks = 8;
constexpr std::size_t kBlockKeys = 16;  // each a row of kLength elements
constexpr std::size_t kLength = 4;

static std::vector<lapse::Key> keys_of_block(std::size_t block) {
  std::vector<lapse::Key> keys;
  for (std::size_t i = 0; i < kBlockKeys; ++i) keys.emplace_back(block * kBlockKeys + i);
  return keys;
}

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  bool correct = true;
  std::optional<lapse::ParameterServer> owner;
  try {
    lapse::ParameterServer& server = owner.emplace(MPI_COMM_WORLD);
    const auto vector =
        server.create_table<float>({.name = "vector", .keys = kBlocks * kBlockKeys, .length = kLength});
    server.run_workers(2, [&](lapse::Worker& worker) {
      // Every worker visits every block, each in its own order; no two workers lease a block at the same
      // time.
      for (std::size_t step = 0; step < kBlocks; ++step) {
        const std::size_t block = (worker.index() + step) % kBlocks;
        const std::vector<lapse::Key> keys = keys_of_block(block);
        const lapse::Lease lease = worker.lease(vector, keys);
        const auto rows = lease.values(vector);
        for (std::size_t i = 0; i < rows.size(); ++i)
          for (float& element : rows[i]) element = 2 * element + 1;  // No sum of updates could express this.
      }
      worker.barrier();
      if (worker.index() != 0) return;
      float expected = 0;
      for (std::size_t i = 0; i < worker.count(); ++i) expected = 2 * expected + 1;
      for (std::size_t block = 0; block < kBlocks; ++block) {
        std::vector<float> values(kBlockKeys * kLength);
        worker.pull(vector, keys_of_block(block), values).wait();
        correct &= std::ranges::count(values, expected) == std::ssize(values);
      }
      std::printf("after %zu workers every element is %g\n", worker.count(), expected);
    });
    server.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
