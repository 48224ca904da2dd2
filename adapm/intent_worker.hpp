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

// A worker of the server with a clock, intents and samples: pull, push and everything else as there. Access
// to a key works with and without intent, whatever the manager does meanwhile.
// Given to each function that ParameterManager::run_workers starts; used by that thread alone, until it
// returns, but for the calls of IntentHandle.
class LAPSE_EXPORT IntentWorker : public lapse::Worker, public IntentHandle {
 public:
  // In place of `worker`, which is not used as long as the object lives.
  IntentWorker(lapse::Worker& worker, IntentHandle intents);
  ~IntentWorker();

  // The worker begins its next batch, say. Raises the clock and, where no other thread drives the engine and
  // the limit of rounds allows it, begins a round of communication. Waits for no message. Throws PeerFailed.
  void advance_clock();
  using lapse::Worker::current_clock;

  // --- samples: prepared by prepare_sample of this worker or of its loader ---

  // Chooses the next keys of the sample and reads their values, as pull does; `keys` has them when the call
  // returns. May be called until all keys that were prepared have been pulled. Throws UsageError for more
  // keys than are left, for a sample of another worker, phase or manager or one that is finished, and for a
  // table with a length for each key: take_keys shows its keys before their values have room.
  // LengthMismatch. Then nothing is taken.
  template <lapse::Element T>
  [[nodiscard]] lapse::Operation pull_sample(PreparedSample<T>& sample, std::span<lapse::Key> keys,
                                             std::type_identity_t<std::span<T>> values) {
    check_values(sample.table().handle(), keys.size(), values.size());
    take(sample, keys);
    return pull(sample.table(), keys, values);
  }
  // The same without the values, for programs that pull the keys with others in one batch.
  template <lapse::Element T>
  void take_keys(PreparedSample<T>& sample, std::span<lapse::Key> keys) {
    take(sample, keys);
  }
  // The sample is not needed any more, whether or not all its keys were pulled; its destructor does the same.
  // Nothing can be pulled from it then. What was announced ends at its end clock.
  template <lapse::Element T>
  void finish_sample(PreparedSample<T>& sample) {
    sample.finish();
  }

  // For a thread that loads data for this worker; to be used until this worker returns.
  IntentHandle loader() const { return *this; }

 private:
  void check_values(const lapse::TableHandle& table, std::size_t keys, std::size_t elements);
  void take(SampleHandle& sample, std::span<lapse::Key> keys);
};

}  // namespace adapm
