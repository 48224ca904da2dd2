#include "adapm/intent_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "adapm/intents/worker_intents.hpp"
#include "adapm/sampling/sampler_state.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/access/argument_checks.hpp"
#include "lapse/ps/foreign_table.hpp"

namespace adapm {

using lapse::Clock;
using lapse::Key;

IntentHandle::IntentHandle(std::shared_ptr<WorkerIntents> intents, std::uint64_t phase, Technique technique,
                           const void* server, lapse::Rank rank, std::size_t worker)
    : intents_(std::move(intents)),
      phase_(phase),
      technique_(technique),
      server_(server),
      rank_(rank),
      worker_(worker) {}

Clock IntentHandle::current_clock() const {
  return intents_->clock();
}

void IntentHandle::check_call(const lapse::TableHandle& table, Clock start, Clock end,
                              const char* what) const {
  if (intents_->process.is_left())
    intents_->process.refuse(fmt::format("{} of worker {} on rank {}", what, worker_, rank_.value()));
  if (intents_->is_closed()) {
    throw lapse::ClosedError(
        fmt::format("{} of worker {} on rank {} after close()", what, worker_, rank_.value()));
  }
  if (table.server() != server_) {
    throw lapse::UsageError(fmt::format("{} of worker {} on rank {} names {}", what, worker_, rank_.value(),
                                        lapse::foreign_table(table.server())));
  }
  if (end < start) {
    throw lapse::UsageError(
        fmt::format("{} of worker {} on rank {} on table '{}' from clock {} to before clock {}: "
                    "expected an end that is not before the start",
                    what, worker_, rank_.value(), table.name(), start.value(), end.value()));
  }
}

void IntentHandle::throw_after_phase(const lapse::TableHandle& table, const char* what) const {
  throw lapse::UsageError(fmt::format("{} of worker {} on rank {} on table '{}' after its phase", what,
                                      worker_, rank_.value(), table.name()));
}

void IntentHandle::check_range(const lapse::TableHandle& table, KeyRange range) const {
  if (range.end < range.first) {
    throw lapse::UsageError(fmt::format(
        "an intent on table '{}' on rank {} for the keys from {} to before {}: expected an end that is not "
        "before the first key",
        table.name(), rank_.value(), range.first.value(), range.end.value()));
  }
  if (table.is_sparse()) {
    const std::uint64_t most = table.state().store().max_keys();
    if (range.size() <= most) return;
    throw lapse::UsageError(
        fmt::format("an intent on table '{}' on rank {} for the {} keys from {} to before {}: expected at "
                    "most {} keys, as "
                    "many as the table may have on a rank (max_keys)",
                    table.name(), rank_.value(), range.size(), range.first.value(), range.end.value(), most));
  }
  if (range.size() == 0 || table.has(Key(range.end.value() - 1))) return;
  const Key outside = table.has(range.first) ? Key(table.keys()) : range.first;
  throw lapse::KeyOutOfRange(table.name(), outside, table.keys(), rank_);
}

void IntentHandle::signal(const lapse::TableHandle& table, std::span<const Key> keys, KeyRange range,
                          Clock start, Clock end, IntentType type) const {
  check_call(table, start, end, "an intent");
  if (!keys.empty()) lapse::ArgumentChecks(rank_).keys(table.state(), keys);
  check_range(table, range);
  if (keys.empty() && range.size() == 0) return;
  // Keys of a sparse table become known only by intents: techniques that always replicate act on these
  // intents.
  const TechniqueTraits traits = adapm::traits(technique_);
  const bool is_acted_on = traits.acts_on_intents || (traits.replicates_always && table.is_sparse());
  const Intent intent{.table = table.id(), .type = type, .start = start, .end = end, .range = range};
  try {
    if (intents_->signal(phase_, intent, keys, is_acted_on)) return;
  } catch (const std::bad_alloc&) {
    throw lapse::OutOfMemory(
        fmt::format("no memory on rank {} for an intent of worker {} on {} keys of table '{}'", rank_.value(),
                    worker_, keys.size(), table.name()));
  }
  throw_after_phase(table, "an intent");
}

// --- samples

SampleHandle IntentHandle::prepare(const std::shared_ptr<SamplerState>& sampler, std::size_t keys,
                                   Clock start, Clock end) const {
  if (sampler == nullptr) check_call({}, start, end, "a sample");
  const lapse::TableHandle& table = sampler->table();
  check_call(table, start, end, "a sample");
  if (!intents_->is_open(phase_)) throw_after_phase(table, "a sample");
  if (keys > sampler->max_keys()) {
    throw lapse::UsageError(
        fmt::format("a sample of worker {} on rank {} of {} keys of table '{}' without replacement: expected "
                    "at most {}, as many as {}",
                    worker_, rank_.value(), keys, table.name(), sampler->max_keys(),
                    sampler->max_keys() < sampler->distribution().support() ? "a pool has"
                                                                            : "the distribution can give"));
  }
  try {
    auto [stream, prepared] = sampler->prepare({phase_, worker_}, keys, start, end,
                                               [&](std::span<const Key> drawn, Clock from, Clock to) {
                                                 signal(table, drawn, {}, from, to, IntentType::read_write);
                                               });
    intents_->count_sample();
    return {sampler, stream, std::move(prepared), phase_, worker_};
  } catch (const std::bad_alloc&) {
    throw lapse::OutOfMemory(
        fmt::format("no memory on rank {} for a sample of worker {} of {} keys of table '{}'", rank_.value(),
                    worker_, keys, table.name()));
  }
}

void IntentHandle::check_sample(SampleHandle& sample, std::size_t keys) const {
  if (sample.keys() == nullptr) {
    throw lapse::UsageError(fmt::format("worker {} on rank {} pulls {} keys of a sample that is finished",
                                        worker_, rank_.value(), keys));
  }
  const std::string& table = sample.sampler().table().name();
  if (sample.sampler().table().server() != server_) {
    throw lapse::UsageError(fmt::format(
        "worker {} on rank {} pulls a sample of table '{}' of another server: expected one of its own",
        worker_, rank_.value(), table));
  }
  if (sample.worker() != worker_ || sample.phase() != phase_) {
    throw lapse::UsageError(fmt::format(
        "worker {} on rank {} pulls a sample of table '{}' that was prepared for worker {}{}: expected one "
        "of "
        "its own, of this phase",
        worker_, rank_.value(), table, sample.worker(), sample.phase() == phase_ ? "" : " in another phase"));
  }
  if (keys <= sample.left()) return;
  throw lapse::UsageError(fmt::format(
      "worker {} on rank {} pulls {} keys of a sample of table '{}': expected at most {}, as {} were "
      "prepared and {} "
      "pulled",
      worker_, rank_.value(), keys, table, sample.left(), sample.size(), sample.size() - sample.left()));
}

}  // namespace adapm
