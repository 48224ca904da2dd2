#include "adapm/intents/intent_rounds.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace adapm {

using lapse::Clock;
using lapse::Key;
using lapse::progress_role;

// --- the workers

std::uint64_t IntentRounds::begin_phase(std::size_t workers) {
  ++phase_;
  while (workers_.size() < workers) workers_.push_back(std::make_shared<WorkerIntents>(timing_));
  for (std::size_t i = 0; i < workers; ++i) {
    // The first round of this phase ends intents of the last phase that no round has ended.
    counters_.dropped_intents += workers_[i]->end_all();
    workers_[i]->begin_phase(phase_);
  }
  return phase_;
}

void IntentRounds::end_phase() {
  for (const auto& worker : workers_) worker->end_phase();
}

void IntentRounds::close() {
  for (const auto& worker : workers_) worker->close();
}

// --- accesses

void IntentRounds::add_table(lapse::TableId table, std::string name) {
  if (causes_.size() <= table.index()) causes_.resize(table.index() + 1);
  causes_[table.index()].table = std::move(name);
}

bool IntentRounds::counts_remote(std::uint32_t worker) const {
  // Workers of the server's own phases announce nothing.
  return traits_.acts_on_intents && worker < workers_.size() && !workers_[worker]->has_ended();
}

void IntentRounds::count_remote(const lapse::RemoteAccess& access) {
  // Tables of the server itself are not managed.
  if (access.table.index() >= causes_.size() || causes_[access.table.index()].table.empty()) return;
  causes_[access.table.index()][workers_[access.worker]->cause(access)] += access.weight;
}

std::vector<RemoteCauses> IntentRounds::causes() const {
  std::vector<RemoteCauses> causes;
  std::ranges::copy_if(causes_, std::back_inserter(causes),
                       [](const RemoteCauses& table) { return table.sum() > 0; });
  return causes;
}

// --- rounds

template <class F>
void IntentRounds::for_each_piece(KeyRange range, F&& f) {
  std::uint64_t next = range.first.value();
  while (next < range.end.value()) {
    const std::uint64_t end = next + std::min<std::uint64_t>(kKeysPerWant, range.end.value() - next);
    piece_.clear();
    for (; next < end; ++next) piece_.emplace_back(next);
    f(std::span<const Key>(piece_));
  }
}

template <class F>
void IntentRounds::for_each_piece(const Intent& intent, std::uint64_t from, std::uint64_t to, F&& f) {
  const std::uint64_t listed = intent.keys.size();
  while (from < std::min(to, listed)) {
    const std::uint64_t count = std::min<std::uint64_t>(kKeysPerWant, std::min(to, listed) - from);
    f(std::span(intent.keys).subspan(from, count));
    from += count;
  }
  if (from == to) return;
  const std::uint64_t first = intent.range.first.value();
  for_each_piece({Key(first + (from - listed)), Key(first + (to - listed))}, f);
}

void IntentRounds::want(lapse::WantSink& sink, lapse::TableId table, std::span<const Key> keys) {
  if (frequencies_ != nullptr) frequencies_->count(table, keys);
  sink.want(table, keys);
}

void IntentRounds::count_actionable(const Intent& intent, Clock now) {
  ++counters_.actionable_intents;
  counters_.actionable_keys += intent.size();
  if (intent.start > now) {
    const auto lead = static_cast<std::uint64_t>(intent.start.value() - now.value());
    counters_.lead_clocks += lead;
    counters_.lead_max_clocks = std::max(counters_.lead_max_clocks, lead);
  } else {
    ++counters_.late_intents;
  }
}

void IntentRounds::activate(WorkerIntents& worker, Clock now, lapse::WantSink& sink) {
  const Clock cutoff =
      traits_.times_actions ? worker.timer.begin_round(now) : Clock(std::numeric_limits<std::int64_t>::max());
  worker.queue.activate(
      now, cutoff,
      [&](Intent& intent) {
        progress_role.assert_held();
        distinct_.keep_one(intent.keys);
        count_actionable(intent, now);
        if (LargeIntents::is_large(intent)) [[unlikely]] {
          worker.large.begin(std::move(intent));
          return false;
        }
        if (!intent.keys.empty()) want(sink, intent.table, intent.keys);
        for_each_piece(intent.range, [&](std::span<const Key> keys) {
          progress_role.assert_held();
          want(sink, intent.table, keys);
        });
        return true;
      },
      [&](const Intent&) { ++counters_.dropped_intents; });
  worker.large.want_some(
      now,
      [&](const Intent& intent, std::uint64_t from, std::uint64_t to) {
        for_each_piece(intent, from, to, [&](std::span<const Key> keys) {
          progress_role.assert_held();
          want(sink, intent.table, keys);
        });
      },
      [&](Intent& intent) { worker.queue.add_active(std::move(intent)); });
}

void IntentRounds::expire(WorkerIntents& worker, lapse::WantSink& sink) {
  const auto pieces_of = [&](const Intent& intent) {
    return [&sink, table = intent.table](std::span<const Key> keys) {
      progress_role.assert_held();
      sink.unwant(table, keys);
    };
  };
  worker.queue.expire(worker.seen, [&](Intent& intent) {
    progress_role.assert_held();
    if (LargeIntents::is_large(intent)) [[unlikely]]
      return worker.large.end(std::move(intent));
    if (!intent.keys.empty()) sink.unwant(intent.table, intent.keys);
    for_each_piece(intent.range, pieces_of(intent));
  });
  worker.large.unwant_some([&](const Intent& intent, std::uint64_t from, std::uint64_t to) {
    for_each_piece(intent, from, to, pieces_of(intent));
  });
}

void IntentRounds::begin_worker_round(WorkerIntents& worker, lapse::WantSink& sink) {
  const Clock now = worker.clock();
  ++worker.rounds_of_phase;
  const std::int64_t advanced = now.value() - worker.seen.value();
  if (advanced > 0) {
    ++counters_.advances;
    counters_.clocks += static_cast<std::uint64_t>(advanced);
  }
  worker.seen = now;
  activate(worker, now, sink);
}

void IntentRounds::begin_round(lapse::WantSink& sink) {
  ++counters_.rounds;
  for (const auto& worker : workers_) {
    if (!worker->has_ended()) begin_worker_round(*worker, sink);
  }
  for (const auto& worker : workers_) {
    if (worker->has_ended()) counters_.dropped_intents += worker->end_all();
    expire(*worker, sink);
  }
  counters_.permanent_keys += permanent_.want_some(sink);
}

bool IntentRounds::pending() const {
  return !permanent_.empty() ||
         std::ranges::any_of(workers_, [](const auto& worker) { return worker->pending(); });
}

IntentCounters IntentRounds::counters() const {
  IntentCounters counters = counters_;
  for (const auto& worker : workers_) worker->add_to(counters);
  return counters;
}

IntentEffect IntentRounds::effect() const {
  IntentEffect effect;
  for (const auto& worker : workers_) effect += worker->effect();
  return effect;
}

}  // namespace adapm
