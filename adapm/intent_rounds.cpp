#include "adapm/intent_rounds.hpp"

#include <algorithm>
#include <limits>

namespace adapm {

using lapse::Clock;
using lapse::Key;
using lapse::progress_role;

// --- the workers

std::uint64_t IntentRounds::begin_phase(std::size_t workers) {
  ++phase_;
  while (workers_.size() < workers) workers_.push_back(std::make_shared<WorkerIntents>(timing_));
  for (std::size_t i = 0; i < workers; ++i) {
    // What of the last phase no round has ended yet, the first one of this phase does.
    counters_.dropped_intents += workers_[i]->queue.end_all();
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

void IntentRounds::want(lapse::WantSink& sink, const Intent& intent) {
  const auto pass_on = [&](std::span<const Key> keys) {
    progress_role.assert_held();
    if (frequencies_ != nullptr) frequencies_->count(intent.table, keys);
    sink.want(intent.table, keys);
  };
  if (!intent.keys.empty()) pass_on(intent.keys);
  for_each_piece(intent.range, pass_on);
}

void IntentRounds::unwant(lapse::WantSink& sink, const Intent& intent) {
  const auto pass_on = [&](std::span<const Key> keys) {
    progress_role.assert_held();
    sink.unwant(intent.table, keys);
  };
  if (!intent.keys.empty()) pass_on(intent.keys);
  for_each_piece(intent.range, pass_on);
}

void IntentRounds::begin_worker_round(WorkerIntents& worker, lapse::WantSink& sink) {
  const Clock now = worker.clock();
  const std::int64_t advanced = now.value() - worker.seen.value();
  if (advanced > 0) {
    ++counters_.advances;
    counters_.clocks += static_cast<std::uint64_t>(advanced);
  }
  worker.seen = now;
  const Clock cutoff =
      traits_.times_actions ? worker.timer.begin_round(now) : Clock(std::numeric_limits<std::int64_t>::max());
  worker.queue.activate(
      now, cutoff,
      [&](Intent& intent) {
        progress_role.assert_held();
        distinct_.keep_one(intent.keys);
        ++counters_.actionable_intents;
        counters_.actionable_keys += intent.size();
        const std::int64_t lead = intent.start.value() - now.value();
        if (lead > 0) {
          counters_.lead_clocks += static_cast<std::uint64_t>(lead);
          counters_.lead_max_clocks = std::max(counters_.lead_max_clocks, static_cast<std::uint64_t>(lead));
        } else {
          ++counters_.late_intents;
        }
        want(sink, intent);
      },
      [&](const Intent&) { ++counters_.dropped_intents; });
}

void IntentRounds::begin_round(lapse::WantSink& sink) {
  ++counters_.rounds;
  for (const auto& worker : workers_) {
    if (!worker->has_ended()) begin_worker_round(*worker, sink);
  }
  for (const auto& worker : workers_) {
    if (worker->has_ended()) counters_.dropped_intents += worker->queue.end_all();
    worker->queue.expire(worker->seen, [&](const Intent& intent) {
      progress_role.assert_held();
      unwant(sink, intent);
    });
  }
  counters_.permanent_keys += permanent_.want_some(sink);
}

bool IntentRounds::pending() const {
  return !permanent_.empty() || std::ranges::any_of(workers_, [](const auto& worker) {
    return worker->has_ended() ? worker->queue.active() > 0 : worker->queue.has_expired(worker->clock());
  });
}

IntentCounters IntentRounds::counters() const {
  IntentCounters counters = counters_;
  for (const auto& worker : workers_) worker->add_to(counters);
  return counters;
}

}  // namespace adapm
