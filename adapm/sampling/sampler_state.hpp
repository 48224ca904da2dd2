// The state of a sampler on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampling/prepared_keys.hpp"
#include "adapm/sampling/sample_pool.hpp"
#include "adapm/sampling_options.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/table.hpp"

namespace adapm {

// The samples of one worker in one phase. Their random numbers depend on the sampler's seed, the worker, the
// phase and the sample's number.
//
// Thread safety: any thread. Samples that several threads prepare concurrently are numbered in any order.
class SampleStream {
 public:
  SampleStream(const Distribution& distribution, const Sampling& sampling)
      : sampling_(sampling), pool_(distribution, sampling) {}

  // The phase and the global number of the worker that a sample belongs to.
  struct Owner {
    std::uint64_t phase;
    std::size_t worker;
  };

  // The random numbers and the memory of a sample; the memory is reused from an ended sample if possible.
  struct NextSample {
    lapse::RandomEngine random;
    std::unique_ptr<PreparedKeys> memory;
  };
  NextSample next(const Owner& owner) LAPSE_EXCLUDES(mutex_);
  // Lists the keys of the next sample; see SamplePool::take.
  void take_from_pool(const Owner& owner, std::size_t keys, lapse::Clock start, lapse::Clock end,
                      PreparedKeys& to, const SamplePool::Announce& announce) LAPSE_EXCLUDES(mutex_);

  // Gives back the memory of an ended sample.
  void give_back(std::unique_ptr<PreparedKeys> ended) noexcept LAPSE_EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kMaxKept = 64;

  // Restarts the numbers of samples in a new phase.
  void enter(const Owner& owner) LAPSE_REQUIRES(mutex_);

  const Sampling sampling_;
  lapse::Mutex mutex_;
  bool entered_ LAPSE_GUARDED_BY(mutex_) = false;
  Owner owner_ LAPSE_GUARDED_BY(mutex_) = {};
  std::uint64_t seed_ LAPSE_GUARDED_BY(mutex_) = 0;
  std::uint64_t samples_ LAPSE_GUARDED_BY(mutex_) = 0;
  SamplePool pool_ LAPSE_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<PreparedKeys>> kept_ LAPSE_GUARDED_BY(mutex_);
};

// Thread safety: any thread.
class SamplerState {
 public:
  // Without replacement, the size of a pool is limited to the distribution's support.
  SamplerState(const lapse::TableHandle& table, Distribution::Shared distribution, const Sampling& sampling);

  const lapse::OwnProcess& process() const { return process_; }
  const lapse::TableHandle& table() const { return table_; }
  const Distribution& distribution() const { return *distribution_; }
  const Sampling& sampling() const { return sampling_; }
  // The most keys of one sample.
  std::uint64_t max_keys() const;

  // A sample, and the stream that gets it back after its end.
  struct Prepared {
    SampleStream& stream;
    std::unique_ptr<PreparedKeys> keys;
  };
  // Prepares a sample of at most max_keys() keys. Calls `announce` for the keys to announce.
  Prepared prepare(const SampleStream::Owner& owner, std::size_t keys, lapse::Clock start, lapse::Clock end,
                   const SamplePool::Announce& announce);

 private:
  SampleStream& stream(std::size_t worker) LAPSE_EXCLUDES(mutex_);

  // constant
  const lapse::OwnProcess process_;
  const lapse::TableHandle table_;
  const Distribution::Shared distribution_;
  const Sampling sampling_;
  lapse::Mutex mutex_;
  std::vector<std::unique_ptr<SampleStream>> streams_
      LAPSE_GUARDED_BY(mutex_);  // by worker; null: no sample yet
};

}  // namespace adapm
