#include "adapm/intent_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "adapm/worker_intents.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/argument_checks.hpp"

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
  if (intents_->is_closed()) {
    throw lapse::ClosedError(
        fmt::format("an intent of worker {} on rank {} after close()", worker_, rank_.value()));
  }
  if (table.server() != server_) {
    throw lapse::UsageError(fmt::format("an intent of worker {} on rank {} names a table of another server",
                                        worker_, rank_.value()));
  }
  if (end < start) {
    throw lapse::UsageError(
        fmt::format("an intent of worker {} on rank {} on table '{}' from clock {} to before clock {}: "
                    "expected an end that is not before the start",
                    worker_, rank_.value(), table.name(), start.value(), end.value()));
  }
  if (!keys.empty()) lapse::ArgumentChecks(rank_).keys(table.state(), keys);
  check_range(table, range);
  if (keys.empty() && range.size() == 0) return;
  // A sparse table's keys become known by intents: what is done always, of other tables, is done for them.
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
  throw lapse::UsageError(fmt::format("an intent of worker {} on rank {} on table '{}' after its phase",
                                      worker_, rank_.value(), table.name()));
}

}  // namespace adapm
