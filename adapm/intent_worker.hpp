// A thread's access to the tables of a parameter manager.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "adapm/intent_handle.hpp"
#include "adapm/sampler.hpp"
#include "lapse/core/export.hpp"
#include "lapse/ps/worker.hpp"

namespace adapm {

// A worker of the server (pull, push and the rest) with a clock, intents and samples. Keys can be accessed
// with and without intents, whatever the manager does at the same time. ParameterManager::run_workers passes
// one to each function it starts; only that thread may use it, until it returns, except for the calls of
// IntentHandle.
class LAPSE_EXPORT IntentWorker : public lapse::Worker, public IntentHandle {
 public:
  // Replaces `worker`, which must not be used while the object lives.
  IntentWorker(lapse::Worker& worker, IntentHandle intents);
  ~IntentWorker();

  // Advances the clock by one, usually once per batch. Begins a round of communication if no other thread
  // drives the engine and the limit of rounds allows it. Throws what Worker::advance_clock throws.
  void advance_clock();
  using lapse::Worker::current_clock;

  // --- samples: prepared by prepare_sample of this worker or of its loader ---

  // Writes the next keys of the sample to `keys` before it returns, and pulls their values. Can be repeated
  // until all prepared keys are taken. Throws UsageError for more keys than are left, for a finished sample
  // or one of another worker, phase or manager, and for a table with a length per key (call take_keys, then
  // pull). Throws LengthMismatch. Then nothing is taken.
  template <lapse::Element T>
  [[nodiscard]] lapse::Operation pull_sample(PreparedSample<T>& sample, std::span<lapse::Key> keys,
                                             std::type_identity_t<std::span<T>> values) {
    check_values(sample.table().handle(), keys.size(), values.size());
    take(sample, keys);
    return pull(sample.table(), keys, values);
  }
  // Like pull_sample without the values, for programs that pull the keys with others in one batch.
  template <lapse::Element T>
  void take_keys(PreparedSample<T>& sample, std::span<lapse::Key> keys) {
    take(sample, keys);
  }
  // Ends the sample, whether or not all its keys were pulled, as its destructor does. Afterwards nothing can
  // be pulled from it. Its announced intents still end at their end clock.
  template <lapse::Element T>
  void finish_sample(PreparedSample<T>& sample) {
    sample.finish();
  }

  // For a thread that loads data for this worker. Valid until this worker returns.
  IntentHandle loader() const { return *this; }

 private:
  void check_values(const lapse::TableHandle& table, std::size_t keys, std::size_t elements);
  void take(SampleHandle& sample, std::span<lapse::Key> keys);
};

}  // namespace adapm
