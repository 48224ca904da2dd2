// A function that runs at the owner of a key. It tracks the largest readings; a push (a sum) could not.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"

struct Reading {
  float temperature;
};

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  bool correct = true;
  std::optional<lapse::ParameterServer> owner;
  try {
    constexpr std::uint64_t kStations = 5;
    lapse::ParameterServer& server = owner.emplace(MPI_COMM_WORLD);
    const auto records = server.create_table<float>({.name = "records", .keys = kStations});
    // No other access to the value runs at the same time. Returns whether the reading was a new record.
    const auto keep_record = server.register_function<float, Reading, bool>(
        "keep record", [](lapse::Key, std::span<float> record, const Reading& reading) {
          if (reading.temperature <= record[0]) return false;
          record[0] = reading.temperature;
          return true;
        });
    server.run_workers(1, [&](lapse::Worker& worker) {
      lapse::RandomEngine random(7, worker.index());
      double expected[kStations] = {};
      double broken = 0;
      for (int i = 0; i < 1000; ++i) {
        const lapse::Key station(random.below(kStations));
        const Reading reading{static_cast<float>(40 * random.uniform())};
        bool is_record = false;
        worker.call(records, keep_record, {&station, 1}, {&reading, 1}, {&is_record, 1}).wait();
        broken += is_record ? 1 : 0;
        expected[station.index()] = std::max(expected[station.index()], double{reading.temperature});
      }
      worker.all_reduce(expected, lapse::Reduce::max);  // A collective of all workers, also a barrier.
      for (std::uint64_t station = 0; station < kStations; ++station) {
        float record = 0;
        worker.pull(records, lapse::Key(station), {&record, 1}).wait();
        correct &= record == static_cast<float>(expected[station]);
        if (worker.index() == 0) std::printf("station %d: %.2f degrees\n", static_cast<int>(station), record);
      }
      if (worker.index() == 0) std::printf("worker 0 broke %g records\n", broken);
    });
    server.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
