// A server under the thread level of the argument: funneled (only the main thread calls MPI) or multiple
// (workers call MPI while the server runs).
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/server_expect.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;

constexpr std::uint64_t kKeys = 40;

void use_server(bool workers_call_mpi) {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = 3});
  for (std::int64_t phase = 1; phase <= 3; ++phase) {
    server.run_workers(2, [&](Worker& worker) {
      const auto keys = lapse::test::key_range(0, kKeys);
      const std::vector<std::int64_t> ones(kKeys * 3, 1);
      for (int round = 0; round < 10; ++round) {
        worker.localize(table, keys);
        worker.push(table, keys, ones).wait();
        if (workers_call_mpi && worker.local_index() == 0) {
          int one = 1;
          int sum = 0;
          MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
          expect(sum == worker.ranks(), "the application's own sum");
        }
      }
      worker.barrier();
      std::vector<std::int64_t> values(kKeys * 3);
      worker.pull(table, keys, values).wait();
      const std::int64_t expected = 10 * phase * static_cast<std::int64_t>(worker.count());
      expect(values == std::vector<std::int64_t>(kKeys * 3, expected), "the sum of all pushes");
      worker.barrier();
    });
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect(rank == 0, "the application's own broadcast");
  }
  server.close();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view level = count == 2 ? arguments[1] : "";
  const int required = level == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
  lapse::prepare_mpi_environment();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, required, &provided);
  if (provided != required) {
    std::fprintf(stderr, "MPI provides another thread level\n");
    return EXIT_FAILURE;
  }
  try {
    use_server(required == MPI_THREAD_MULTIPLE);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
