// Samples that workers and their loaders prepare concurrently, on ranks that are threads of one process. Also
// runs under ThreadSanitizer.
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::test::BorrowedTransport;

namespace {

constexpr std::int32_t kSamplingRanks = 3;
constexpr std::uint64_t kSamplingKeys = 40;
constexpr std::int64_t kSamples = 30;
constexpr std::size_t kSampleKeys = 8;
using Sample = PreparedSample<std::int64_t>;

// Each push adds 1, so the sum of all values is the number of keys that all workers took. Samples of the
// loader end in the loader, some before the worker is done, and in the worker.
void work(IntentWorker& worker, const Sampler<std::int64_t>& sampler) {
  std::mutex mutex;
  std::vector<Sample> ready;
  std::exception_ptr problem;
  std::thread loader([&, handle = worker.loader()] {
    try {
      for (std::int64_t i = 0; i < kSamples; ++i) {
        Sample dropped = handle.prepare_sample(sampler, kSampleKeys, Clock(i), Clock(i + 2));
        Sample sample = handle.prepare_sample(sampler, kSampleKeys, Clock(i), Clock(i + 2));
        const std::lock_guard guard(mutex);
        ready.push_back(std::move(sample));
      }
    } catch (...) {
      problem = std::current_exception();
    }
  });
  const std::vector<std::int64_t> ones(kSampleKeys, 1);
  std::vector<std::int64_t> values(kSampleKeys);
  std::vector<Key> keys(kSampleKeys);
  const auto use = [&](Sample sample) {
    for (const std::size_t part : {kSampleKeys / 4, kSampleKeys - kSampleKeys / 4}) {
      const auto some = std::span(keys).first(part);
      worker.pull_sample(sample, some, std::span(values).first(part)).wait();
      worker.push(sampler.table(), some, std::span(ones).first(part));
    }
    worker.advance_clock();
  };
  for (std::int64_t i = 0; i < kSamples; ++i)
    use(worker.prepare_sample(sampler, kSampleKeys, Clock(i), Clock(i + 2)));
  loader.join();
  if (problem) std::rethrow_exception(problem);
  for (Sample& sample : ready) use(std::move(sample));
  worker.sync_barrier();
  std::int64_t sum = 0;
  std::vector<std::int64_t> value(1);
  for (std::uint64_t key = 0; key < kSamplingKeys; ++key) {
    worker.pull(sampler.table(), Key(key), value).wait();
    sum += value[0];
  }
  if (sum != static_cast<std::int64_t>(worker.count() * 2 * kSamples * kSampleKeys))
    throw std::runtime_error("a push of a sample is missing, or came twice");
}

// Runs all ranks. Rethrows an exception of any of them.
void run(const SamplingOptions& sampling) {
  lapse::ThreadedLoopback network(kSamplingRanks, {.separate_bulk_lane = true, .delay_seed = 1});
  std::array<std::exception_ptr, kSamplingRanks> errors;
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < kSamplingRanks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        Options options;
        options.server.startup_report = false;
        options.server.domain = {lapse::DomainChoice::Kind::number, 1};
        ParameterManager manager(std::make_unique<BorrowedTransport>(network.endpoint(lapse::Rank(rank))),
                                 options);
        const auto table = manager.create_table<std::int64_t>({.keys = kSamplingKeys});
        const auto sampler =
            manager.create_sampler(table, Distribution::log_uniform({Key(0), Key(kSamplingKeys)}), sampling);
        manager.run_workers(2, [&](IntentWorker& worker) { work(worker, sampler); });
        manager.close();
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

TEST_CASE("Loaders and workers prepare samples at the same time, and no push is lost") {
  for (const SamplingScheme scheme : kSamplingSchemes) {
    for (const bool postpone : {false, true}) {
      INFO(to_string(scheme) << (postpone ? ", postponing" : ""));
      run({.scheme = scheme,
           .with_replacement = postpone,
           .postpone = postpone,
           .pool_keys = 12,
           .pool_uses = 3});
    }
  }
}
