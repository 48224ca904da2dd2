// OpenMP threads as workers, with the runtime of either compiler.
#include <omp.h>

#include <array>
#include <cstdio>

#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int wrong = 0;
  {
    lapse::ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<double>({.name = "sums", .keys = 100});
    for (int phase = 0; phase < 2; ++phase) {  // the second phase reuses the threads of the first
      server.start_progress(2);
#pragma omp parallel num_threads(2) reduction(+ : wrong)
      {
        const auto place = static_cast<std::size_t>(omp_get_thread_num());
        lapse::AttachedWorker worker = server.attach(place);
        std::array<double, 1> value{1.0};
        for (std::uint64_t key = 0; key < 100; ++key) worker->push(table, lapse::Key(key), value);
        worker->sync_barrier();
        worker->pull(table, lapse::Key(41 + place), value).wait();
        wrong += value[0] == static_cast<double>((phase + 1) * 2 * server.ranks()) ? 0 : 1;
        worker->barrier();
        worker.detach();
      }
      server.stop_progress();
    }
    server.close();
  }
  MPI_Finalize();
  if (wrong == 0) std::printf("OpenMP works\n");
  return wrong;
}
