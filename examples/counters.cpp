// Counters that workers of all ranks add to: a dense table of integers, where a push adds.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <vector>

#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"

// The digits in the decimal numbers from `first` on, in steps of `step`, below `end`.
static std::vector<std::int64_t> count_digits(std::size_t first, std::size_t step, std::size_t end) {
  std::vector<std::int64_t> digits(10);
  for (std::size_t number = first; number < end; number += step)
    for (std::size_t rest = number; rest > 0; rest /= 10) ++digits[rest % 10];
  return digits;
}

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  bool correct = true;
  std::optional<lapse::ParameterServer> owner;
  try {
    lapse::ParameterServer& server = owner.emplace(MPI_COMM_WORLD);
    const auto counters = server.create_table<std::int64_t>({.name = "counters", .keys = 10});
    std::vector<std::int64_t> totals(10);
    server.run_workers(1, [&](lapse::Worker& worker) {
      std::vector<lapse::Key> keys;
      for (std::uint64_t digit = 0; digit < 10; ++digit) keys.emplace_back(digit);
      // Each worker counts its share of the numbers and adds it, all counters in one call.
      worker.push(counters, keys, count_digits(worker.index(), worker.count(), 100'000));
      worker.barrier();  // The pushes of all workers have taken effect.
      worker.pull(counters, keys, totals).wait();
    });
    correct = totals == count_digits(0, 1, 100'000);
    if (server.rank() == lapse::Rank(0)) {
      for (std::size_t digit = 0; digit < 10; ++digit)
        std::printf("digit %zu: %lld times\n", digit, static_cast<long long>(totals[digit]));
    }
    server.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
