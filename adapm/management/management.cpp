#include "adapm/management/management.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "adapm/distribution.hpp"
#include "lapse/core/error.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/foreign_table.hpp"

namespace adapm {

using lapse::Key;
using lapse::TableHandle;

namespace {

PermanentWants::Serves served_by(const TableHandle& table) {
  return [&definition = table.state().definition()](Key key) { return definition.serves(key); };
}

}  // namespace

Management::Management(const Options& options)
    : technique_(options.technique),
      factor_(options.nups_factor),
      most_rounds_(options.max_rounds_per_second),
      rounds_(options),
      policy_(make_policy(options.technique)),
      fixed_choice_(dynamic_cast<FixedChoicePolicy*>(policy_.get())) {}

void Management::attach(lapse::ParameterServer& server) {
  if (trace_) {
    trace_->start();
    server.observe(*trace_);
  }
  if (!wants_keys(technique_)) return;
  // Advancing clocks request rounds. Without requests, a round begins after this time, or later if rounds are
  // limited.
  constexpr std::chrono::microseconds kInterval{1000};
  // Messages between owners and holders of replicas get 1/17 of the processor's time.
  constexpr unsigned kPause = 16;
  const auto least = most_rounds_ == 0 ? std::chrono::nanoseconds(0)
                                       : std::chrono::nanoseconds(std::chrono::seconds(1)) / most_rounds_;
  server.manage(rounds_, *policy_,
                {.interval = std::max(kInterval, std::chrono::ceil<std::chrono::microseconds>(least)),
                 .least = least,
                 .pause = kPause});
}

void Management::add_table(const TableHandle& table, bool replicable) {
  server_ = table.server();
  rounds_.add_table(table.id(), table.name());
  if (trace_) trace_->add_table(table);
  if (!replicable) return;
  policy_->allow_replicas(table.id());
  if (fixed_choice_ != nullptr) {
    frequencies_.add_table(table.id());
    counted_.emplace(table.id(), table);
  } else if (traits(technique_).replicates_always && !table.is_sparse()) {
    rounds_.permanent().add(table.id(), KeyRange{Key(0), Key(table.keys())}, served_by(table));
  }
}

std::uint64_t Management::begin_phase(std::size_t workers) {
  rounds_.set_frequencies(counted_.empty() ? nullptr : &frequencies_);
  return rounds_.begin_phase(workers);
}

void Management::end_phase() {
  rounds_.end_phase();
  if (trace_) trace_->flush();
}

IntentHandle Management::handle(std::uint64_t phase, lapse::Worker& worker) const {
  lapse::WorkerEndpoint& slot = worker.core().endpoint();
  rounds_.worker(slot.local_index())->use_clock(slot.clock());
  return {rounds_.worker(slot.local_index()), phase,         technique_,
          worker.core().phase().server,       worker.rank(), worker.index()};
}

void Management::check_server(const TableHandle& table, const char* what) const {
  if (table.server() != nullptr && (server_ == nullptr || table.server() == server_)) return;
  throw lapse::UsageError(fmt::format("{} {}", what, lapse::foreign_table(table.server())));
}

// --- sampling

void Management::check_sampler(const TableHandle& table, const Distribution* distribution,
                               const Sampling& sampling, lapse::Rank rank) const {
  check_server(table, "a sampler for");
  if (distribution == nullptr)
    throw lapse::UsageError(fmt::format("a sampler for table '{}' without a distribution", table.name()));
  if (!table.is_sparse() && !table.has(distribution->last_key()))
    throw lapse::KeyOutOfRange(table.name(), distribution->last_key(), table.keys(), rank);
  if (sampling.pool_keys == 0 || sampling.pool_uses == 0) {
    throw lapse::UsageError(fmt::format(
        "a sampler for table '{}' with pools of {} keys that are used {} times: expected at least 1",
        table.name(), sampling.pool_keys, sampling.pool_uses));
  }
}

// --- NuPS

void Management::replicate_always(const TableHandle& table, std::vector<Key> keys) {
  frequencies_.remove_table(table.id());
  counted_.erase(table.id());
  fixed_choice_->set_frequent(table.id(), keys);
  rounds_.permanent().add(table.id(), std::move(keys), served_by(table));
}

void Management::check_frequencies(const TableHandle& table, std::span<const std::uint64_t> counts) const {
  check_server(table, "frequencies for");
  if (table.is_sparse() || counts.size() != table.keys()) {
    throw lapse::UsageError(fmt::format(
        "{} frequencies for table '{}': expected one for each key of a dense table{}", counts.size(),
        table.name(), table.is_sparse() ? "" : fmt::format(", {} in all", table.keys())));
  }
  if (fixed_choice_ != nullptr && policy_->may_replicate(table.id()) && !counted_.contains(table.id())) {
    throw lapse::UsageError(
        fmt::format("the frequent keys of table '{}' have been chosen already", table.name()));
  }
}

void Management::set_frequencies(const TableHandle& table, std::span<const std::uint64_t> counts) {
  if (counted_.contains(table.id())) replicate_always(TableHandle(table), frequent_keys(counts, factor_));
}

void Management::choose_frequent(const Exchange& exchange) {
  while (!counted_.empty()) {
    const TableHandle table = counted_.begin()->second;
    KeyFrequencies::Counts counts;
    for (const std::string& bytes : exchange(frequencies_.to_bytes(table.id())))
      KeyFrequencies::add_bytes(bytes, counts);
    const std::uint64_t keys = table.is_sparse() ? counts.size() : table.keys();
    replicate_always(table, KeyFrequencies::frequent(counts, keys, factor_));
  }
}

}  // namespace adapm
