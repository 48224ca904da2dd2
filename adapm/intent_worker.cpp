#include "adapm/intent_worker.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "adapm/intents/worker_intents.hpp"
#include "adapm/sampling/prepared_keys.hpp"
#include "adapm/sampling/sampler_state.hpp"
#include "adapm/sampling/usable_keys.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace adapm {

using lapse::Key;

namespace {

class KeysInMemory final : public UsableKeys {
 public:
  KeysInMemory(lapse::WorkerCore& core, const lapse::TableHandle& table) : core_(core), table_(table) {}

  void find(std::span<const Key> keys, std::span<bool> usable) override {
    static_assert(kMaxAtOnce <= lapse::WorkerCore::kMaxUsableAtOnce);
    core_.find_usable(table_, keys, usable);
  }

 private:
  lapse::WorkerCore& core_;
  const lapse::TableHandle& table_;
};

}  // namespace

IntentWorker::IntentWorker(lapse::Worker& worker, IntentHandle intents)
    : lapse::Worker(worker.core().seat()), IntentHandle(std::move(intents)) {}

IntentWorker::~IntentWorker() = default;

void IntentWorker::advance_clock() {
  lapse::Worker::advance_clock();
  if (wants_keys(technique())) core().help_round();
}

// --- samples

void IntentWorker::check_values(const lapse::TableHandle& table, std::size_t keys, std::size_t elements) {
  core().check_call(table.server());
  if (table.length() == 0) {
    throw lapse::UsageError(fmt::format(
        "worker {} on rank {} pulls {} values of a sample of table '{}', whose keys have lengths of "
        "their own: expected take_keys, then a pull of these keys",
        index(), rank().value(), keys, table.name()));
  }
  if (elements != keys * table.length())
    throw lapse::LengthMismatch(table.name(), "values", elements, keys * table.length(), rank());
}

void IntentWorker::take(SampleHandle& sample, std::span<Key> keys) {
  core().check_life();
  core().check_failure();
  check_sample(sample, keys.size());
  SamplerState& sampler = sample.sampler();
  KeysInMemory usable(core(), sampler.table());
  try {
    intents().count_taken(keys.size(), sample.keys()->take(keys, sampler.distribution(), usable));
  } catch (const std::bad_alloc&) {
    throw lapse::OutOfMemory(fmt::format("no memory on rank {} for {} keys of a sample of table '{}'",
                                         rank().value(), keys.size(), sampler.table().name()));
  }
}

}  // namespace adapm
