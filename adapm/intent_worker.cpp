#include "adapm/intent_worker.hpp"

#include <fmt/format.h>

#include <array>
#include <new>
#include <utility>

#include "adapm/intents/worker_intents.hpp"
#include "adapm/sampling/prepared_keys.hpp"
#include "adapm/sampling/sampler_state.hpp"
#include "adapm/sampling/usable_keys.hpp"
#include "lapse/core/error.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace adapm {

using lapse::Key;

namespace {

// Like the check of WorkerCore, except that it ignores latches held by other threads.
class KeysInMemory final : public UsableKeys {
 public:
  KeysInMemory(lapse::WorkerCore& core, const lapse::TableHandle& table)
      : core_(core), table_(table.state()) {}

  void find(std::span<const Key> keys, std::span<bool> usable) override {
    static_assert(kMaxAtOnce <= lapse::Store::kMaxAtOnce);
    const lapse::Store& store = table_.store();
    lapse::UnansweredTable& unanswered = core_.endpoint().unanswered();
    const bool clear = unanswered.count().is_clear();
    std::array<lapse::Store::Word*, kMaxAtOnce> words;
    store.find(keys, words.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      usable[i] = words[i] != nullptr ? store.is_open(*words[i]) : is_home(keys[i]);
      if (!clear && usable[i])
        usable[i] = !unanswered.contains(table_.id(), keys[i]) && core_.is_current(table_, keys[i]);
    }
  }

 private:
  // An uninitialized key is local at its home.
  bool is_home(Key key) const { return table_.definition().homes.home(key) == table_.self_domain(); }

  lapse::WorkerCore& core_;
  const lapse::TableShard& table_;
};

}  // namespace

IntentWorker::IntentWorker(lapse::Worker& worker, IntentHandle intents)
    : lapse::Worker(worker.core().phase(), worker.core().endpoint()), IntentHandle(std::move(intents)) {
  if (!wants_keys(technique())) return;
  round_ = std::make_unique<lapse::RoundRequest>();
  round_->handler = &core().phase().protocol.replication();
}

IntentWorker::~IntentWorker() = default;

void IntentWorker::advance_clock() {
  lapse::Worker::advance_clock();
  if (round_ != nullptr) core().help(*round_);
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
