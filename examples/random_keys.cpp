// Samples: workers draw keys by frequency, as negative samples, and a parameter manager makes them local.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <optional>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/transport/mpi/environment.hpp"

namespace {

constexpr std::uint64_t kKeys = 1000;
constexpr std::int64_t kBatches = 500;
constexpr std::int64_t kAhead = 100;  // batches; more does no harm
constexpr std::size_t kSampleKeys = 20;

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
    std::vector<std::uint64_t> frequencies;  // A real program counts keys in its data.
    for (std::uint64_t key = 0; key < kKeys; ++key) frequencies.push_back(1'000'000 / (key + 1));
    const auto sampler = manager.create_sampler(table, adapm::Distribution::by_frequency(frequencies, 0.75));
    manager.run_workers(1, [&](adapm::IntentWorker& worker) {
      std::deque<adapm::PreparedSample<std::int64_t>> samples;
      std::vector<lapse::Key> keys(kSampleKeys);
      std::vector<std::int64_t> values(kSampleKeys);
      for (std::int64_t batch = 0, next = 0; batch < kBatches; ++batch) {
        for (; next < std::min(batch + kAhead, kBatches); ++next)
          samples.push_back(
              worker.prepare_sample(sampler, kSampleKeys, lapse::Clock(next), lapse::Clock(next + 1)));
        worker.pull_sample(samples.front(), keys, values).wait();
        samples.pop_front();
        worker.push(table, keys, std::vector<std::int64_t>(kSampleKeys, 1));
        worker.advance_clock();
      }
    });
    manager.run_workers(1, [&](adapm::IntentWorker& worker) {
      std::vector<std::int64_t> count(1);
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        worker.pull(table, lapse::Key(key), count).wait();
        missing -= count[0];
        if (key % 200 == 0 && worker.index() == 0)
          std::printf("key %4zu came %lld times\n", key, static_cast<long long>(count[0]));
      }
    });
    missing += kSampleKeys * kBatches * manager.ranks();
    manager.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return missing == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
