// Samples of workers: every scheme draws keys of its distribution and delivers their values.
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/adapm_samples.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using adapm::test::distribution_of;
using adapm::test::kBase;
using adapm::test::KeyList;
using adapm::test::kSampledKeys;
using adapm::test::sampled_table;
using adapm::test::Values;
using lapse::Clock;
using lapse::Key;
using lapse::test::expect;
using lapse::test::options_of;

namespace {

// Samples on the way from a preparing thread to the worker.
class SampleQueue {
 public:
  using Sample = PreparedSample<std::int64_t>;
  void put(Sample sample) {
    const std::lock_guard guard(mutex_);
    samples_.push_back(std::move(sample));
    changed_.notify_one();
  }
  Sample take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !samples_.empty(); });
    Sample sample = std::move(samples_.front());
    samples_.pop_front();
    return sample;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sample> samples_;
};

// A worker takes samples that its loader prepares, checks them, and adds 1 to each sampled key.
void use_samples(IntentWorker& worker, const Sampler<std::int64_t>& sampler, std::uint64_t stride,
                 bool different) {
  constexpr std::int64_t kSamples = 40;
  constexpr std::size_t kSampleKeys = 25;
  SampleQueue queue;
  std::thread loader([&queue, &sampler, loader = worker.loader()] {
    for (std::int64_t i = 0; i < kSamples; ++i)
      queue.put(loader.prepare_sample(sampler, kSampleKeys, Clock(i), Clock(i + 1)));
  });
  const auto& table = sampler.table();
  Values counts(kSampledKeys, 0);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    SampleQueue::Sample sample = queue.take();
    KeyList keys(kSampleKeys);
    Values values(kSampleKeys);
    for (const std::size_t part : {10, 0, 15}) {
      const std::size_t at = kSampleKeys - sample.left();
      worker.pull_sample(sample, std::span(keys).subspan(at, part), std::span(values).subspan(at, part))
          .wait();
    }
    expect(sample.left() == 0 && sample.size() == kSampleKeys, "a sample that is used up");
    worker.finish_sample(sample);
    for (std::size_t j = 0; j < kSampleKeys; ++j) {
      const std::uint64_t number = keys[j].value() / stride;
      expect(number < kSampledKeys && number % 3 != 0 && keys[j].value() % stride == 0,
             "a key of the support");
      expect(values[j] / kBase == static_cast<std::int64_t>(keys[j].value()), "the value of the key");
      ++counts[number];
    }
    if (different) expect(std::set<Key>(keys.begin(), keys.end()).size() == keys.size(), "different keys");
    worker.push(table, keys, Values(kSampleKeys, 1));
    worker.advance_clock();
  }
  loader.join();
  worker.all_reduce(counts);
  worker.sync_barrier();
  Values value(1);
  for (std::uint64_t number = 0; number < kSampledKeys; ++number) {
    const Key key(number * stride);
    worker.pull(table, key, value).wait();
    expect(value[0] == static_cast<std::int64_t>(key.value()) * kBase + counts[number],
           "the sum of all pushes");
  }
}

}  // namespace

TEST_CASE("Samples of every scheme have keys of the support and their values, and no push is lost") {
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::adaptive));
  const auto workers = static_cast<std::uint64_t>(2 * manager.ranks());
  IntentCounters before;
  for (const SamplingScheme scheme : kSamplingSchemes) {
    for (const bool postpone : {false, true}) {
      for (const bool with_replacement : {false, true}) {
        INFO(to_string(scheme) << (postpone ? ", postponing" : "")
                               << (with_replacement ? ", with" : ", without") << " replacement");
        const std::uint64_t stride = postpone == with_replacement ? 1 : 1'000'003;
        const auto table = manager.create_table<std::int64_t>(sampled_table(stride != 1));
        const auto sampler = manager.create_sampler(table, distribution_of(stride),
                                                    {.scheme = scheme,
                                                     .with_replacement = with_replacement,
                                                     .postpone = postpone,
                                                     .pool_keys = 40,
                                                     .pool_uses = 3});
        manager.run_workers(
            2, [&](IntentWorker& worker) { use_samples(worker, sampler, stride, !with_replacement); });
        const Statistics statistics = manager.statistics();
        const IntentCounters intents = statistics.intents.total();
        CHECK(intents.samples - before.samples == 40 * workers);
        CHECK(intents.sampled_keys - before.sampled_keys == 1000 * workers);
        CHECK((intents.intents > before.intents) ==
              (scheme == SamplingScheme::prelocalised || scheme == SamplingScheme::pool));
        CHECK((postpone || intents.postponed_keys == before.postponed_keys));
        // The intents have ended.
        CHECK(statistics.server.table_total(table.id()).copies_here == 0);
        before = intents;
      }
    }
  }
  manager.close();
}

TEST_CASE("Samples are dropped, moved and left unused without harm, also after their manager") {
  std::optional<PreparedSample<std::int64_t>> last;
  {
    ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::adaptive));
    const auto table = manager.create_table<std::int64_t>(sampled_table(false));
    for (const SamplingScheme scheme : kSamplingSchemes) {
      const auto sampler = manager.create_sampler(table, distribution_of(1), {.scheme = scheme});
      manager.run_workers(1, [&](IntentWorker& worker) {
        for (std::int64_t i = 0; i < 200; ++i) {
          auto first = worker.prepare_sample(sampler, 5, Clock(i), Clock(i + 3));
          auto second = worker.prepare_sample(sampler, 5, Clock(i), Clock(i + 3));
          KeyList keys(3);
          worker.take_keys(second, keys);
          first = std::move(second);
          expect(second.left() == 0 && first.left() == 2, "what is left of the second");
          worker.take_keys(first, std::span(keys).first(2));
          auto empty = worker.prepare_sample(sampler, 0, Clock(i), Clock(i));
          worker.pull_sample(empty, {}, {}).wait();
          worker.advance_clock();
        }
        last = worker.prepare_sample(sampler, 5, Clock(0), Clock(1000));
      });
    }
    manager.close();
  }
  CHECK(last->left() == 5);
  last.reset();
}
