// What a rank keeps of a sampler.
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

// The samples of one worker in one phase, one after the other: their random numbers depend on the seed of the
// sampler, the worker, the phase and their number.
//
// Thread safety: any thread; samples that several threads prepare at the same time are numbered in any order.
class SampleStream {
 public:
  SampleStream(const Distribution& distribution, const Sampling& sampling)
      : sampling_(sampling), pool_(distribution, sampling) {}

  // The phase and the worker among those of all ranks that a sample belongs to.
  struct Owner {
    std::uint64_t phase;
    std::size_t worker;
  };

  // Its random numbers, and memory, that of a sample that has ended where there is some.
  struct NextSample {
    lapse::RandomEngine random;
    std::unique_ptr<PreparedKeys> memory;
  };
  NextSample next(const Owner& owner) LAPSE_EXCLUDES(mutex_);
  // Lists the keys of the next sample; see SamplePool::take.
  void take_from_pool(const Owner& owner, std::size_t keys, lapse::Clock start, lapse::Clock end,
                      PreparedKeys& to, const SamplePool::Announce& announce) LAPSE_EXCLUDES(mutex_);

  // A sample has ended.
  void give_back(std::unique_ptr<PreparedKeys> ended) noexcept LAPSE_EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kMaxKept = 64;

  // Numbers begin anew with each phase.
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
  // Without replacement a pool has at most as many keys as the support of the distribution.
  SamplerState(const lapse::TableHandle& table, Distribution::Shared distribution, const Sampling& sampling);

  const lapse::OwnProcess& process() const { return process_; }
  const lapse::TableHandle& table() const { return table_; }
  const Distribution& distribution() const { return *distribution_; }
  const Sampling& sampling() const { return sampling_; }
  // Keys that one sample can have.
  std::uint64_t max_keys() const;

  // A sample, and the stream that it is given back to when it has ended.
  struct Prepared {
    SampleStream& stream;
    std::unique_ptr<PreparedKeys> keys;
  };
  // Prepares a sample of at most max_keys() keys; `announce` is called for the keys that are to be announced.
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
