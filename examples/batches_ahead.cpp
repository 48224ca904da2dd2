// Intents: each worker announces the keys of its next batches, and a parameter manager makes them local.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/transport/mpi/environment.hpp"

namespace {

constexpr std::uint64_t kKeys = 1000;
constexpr std::int64_t kBatches = 500;
constexpr std::int64_t kAhead = 100;  // batches; more does no harm

// A real program reads the keys with its data.
std::vector<lapse::Key> batch_keys(std::size_t worker, std::int64_t batch) {
  lapse::RandomEngine random(static_cast<std::uint64_t>(batch), worker);
  std::vector<lapse::Key> keys;
  for (int i = 0; i < 20; ++i) keys.emplace_back(random.below(kKeys));
  return keys;
}

}  // namespace

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  std::int64_t missing = 0;
  std::optional<adapm::ParameterManager> owner;
  try {
    adapm::ParameterManager& manager = owner.emplace(MPI_COMM_WORLD);
    const auto table = manager.create_table<std::int64_t>({.name = "counts", .keys = kKeys});
    manager.run_workers(1, [&](adapm::IntentWorker& worker) {
      for (std::int64_t batch = 0, announced = 0; batch < kBatches; ++batch) {
        for (; announced < std::min(batch + kAhead, kBatches); ++announced) {
          const auto keys = batch_keys(worker.index(), announced);
          worker.intent(table, keys, lapse::Clock(announced), lapse::Clock(announced + 1));
        }
        const auto keys = batch_keys(worker.index(), batch);
        worker.push(table, keys, std::vector<std::int64_t>(keys.size(), 1));
        worker.advance_clock();
      }
    });
    manager.run_workers(1, [&](adapm::IntentWorker& worker) {
      std::vector<std::int64_t> count(1);
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        worker.pull(table, lapse::Key(key), count).wait();
        missing -= count[0];
      }
    });
    missing += 20 * kBatches * manager.ranks();
    const std::string counted = manager.statistics().intents.to_text();
    if (manager.rank() == lapse::Rank(0)) std::printf("%s", counted.c_str());
    manager.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return missing == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
