// Where intents are signaled and samples prepared: by a worker, or by another thread on its behalf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "adapm/intent.hpp"
#include "adapm/sampler.hpp"
#include "adapm/technique.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/table.hpp"

namespace adapm {

class WorkerIntents;

// Signals intents of one worker and prepares its samples, in one phase. Copies belong to the same worker.
//
// Thread safety: any thread, so that a thread that loads data for a worker can signal what the worker will
// access. A handle may outlive its phase and its manager; then it refuses intents and samples.
class LAPSE_EXPORT IntentHandle {
 public:
  // Made by ParameterManager. `server`: the server whose tables may be named.
  IntentHandle(std::shared_ptr<WorkerIntents> intents, std::uint64_t phase, Technique technique,
               const void* server, lapse::Rank rank, std::size_t worker);

  // The worker will access the keys while its clock is at least `start` and below `end`. Keys may repeat, and
  // intents may overlap. Copies the keys. Waits for no message, and for no thread except one that is in this
  // call or begins a round for this worker. An intent whose start has passed is acted on at once; one whose
  // end has passed, or equals its start, is ignored and counted. Throws UsageError for an end before its
  // start, for a range of more keys than a sparse table may have, for a table of another server and after the
  // worker's phase; ClosedError after the manager was closed; KeyOutOfRange; OutOfMemory if the keys cannot
  // be copied. Then nothing is signaled.
  template <lapse::Element T>
  void intent(const lapse::Table<T>& table, std::span<const lapse::Key> keys, lapse::Clock start,
              lapse::Clock end, IntentType type = IntentType::read_write) const {
    signal(table.handle(), keys, {}, start, end, type);
  }
  template <lapse::Element T>
  void intent(const lapse::Table<T>& table, lapse::Key key, lapse::Clock start, lapse::Clock end,
              IntentType type = IntentType::read_write) const {
    signal(table.handle(), std::span<const lapse::Key>(&key, 1), {}, start, end, type);
  }
  // A range takes no memory per key before it is acted on. A large range is acted on in several rounds.
  template <lapse::Element T>
  void intent(const lapse::Table<T>& table, KeyRange range, lapse::Clock start, lapse::Clock end,
              IntentType type = IntentType::read_write) const {
    signal(table.handle(), {}, range, start, end, type);
  }

  // The worker will pull `keys` keys of the sampler's distribution while its clock is at least `start` and
  // below `end`. Draws and announces keys as the sampler's scheme demands (docs/sampling.md). Waits as
  // intent() does. If one thread at a time calls it, the keys of the schemes naive, prelocalised and pool
  // depend only on the sampler's seed, the worker's global number, the phase and the samples prepared earlier
  // in the phase. Throws what intent() throws, and UsageError for a sampler of another manager, and for more
  // keys without replacement than the distribution's support or a pool has. Then nothing is prepared.
  template <lapse::Element T>
  [[nodiscard]] PreparedSample<T> prepare_sample(const Sampler<T>& sampler, std::size_t keys,
                                                 lapse::Clock start, lapse::Clock end) const {
    return {sampler.table(), prepare(sampler.state(), keys, start, end)};
  }

  // How often the worker has advanced its clock, over all phases. May be called while the worker advances it.
  lapse::Clock current_clock() const;

 protected:
  WorkerIntents& intents() const { return *intents_; }
  Technique technique() const { return technique_; }
  // Throws UsageError unless this worker can take `keys` keys of the sample.
  void check_sample(SampleHandle& sample, std::size_t keys) const;

 private:
  // Throws unless this call on the table with these clocks is allowed now. `what`: the call, e.g. "an
  // intent".
  void check_call(const lapse::TableHandle& table, lapse::Clock start, lapse::Clock end,
                  const char* what) const;
  // Throws UsageError: the worker's phase has ended.
  [[noreturn]] void throw_after_phase(const lapse::TableHandle& table, const char* what) const;
  SampleHandle prepare(const std::shared_ptr<SamplerState>& sampler, std::size_t keys, lapse::Clock start,
                       lapse::Clock end) const;
  void signal(const lapse::TableHandle& table, std::span<const lapse::Key> keys, KeyRange range,
              lapse::Clock start, lapse::Clock end, IntentType type) const;
  void check_range(const lapse::TableHandle& table, KeyRange range) const;

  std::shared_ptr<WorkerIntents> intents_;
  std::uint64_t phase_;
  Technique technique_;
  const void* server_;
  lapse::Rank rank_;
  std::size_t worker_;
};

}  // namespace adapm
