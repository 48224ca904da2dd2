// Turns the intents of a rank's workers into wants, round by round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapm/intent_counters.hpp"
#include "adapm/intents/distinct_keys.hpp"
#include "adapm/intents/intent_effect.hpp"
#include "adapm/intents/key_frequencies.hpp"
#include "adapm/intents/permanent_wants.hpp"
#include "adapm/intents/worker_intents.hpp"
#include "adapm/options.hpp"
#include "adapm/remote_causes.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/table/intent_source.hpp"

namespace adapm {

// In each round, each worker's clock and timer decide which of its intents are due: their keys are wanted.
// Keys of ended intents are unwanted, after the wants, so that a key in an old and a new intent stays wanted.
// An intent causes no work per key before it is due. A round wants and unwants a limited number of keys of
// large intents (LargeIntents); later rounds continue.
//
// Thread safety: begin_round: the holder of the progress lock. Everything else: one thread, while no engine
// runs.
class IntentRounds final : public lapse::IntentSource {
 public:
  // Keys of a range, or of a large intent, that are passed together.
  static constexpr std::size_t kKeysPerWant = 4096;

  explicit IntentRounds(const Options& options)
      : timing_(options.timing), traits_(traits(options.technique)) {}

  // --- the workers

  // Called before a phase with `workers` workers on this rank; worker() is then defined for each. Returns the
  // phase's number.
  std::uint64_t begin_phase(std::size_t workers);
  // Called after a phase, also after one that failed.
  void end_phase();
  // The manager is closed: later signals are refused with ClosedError.
  void close();
  const std::shared_ptr<WorkerIntents>& worker(std::size_t local_index) const {
    return workers_[local_index];
  }

  // --- keys wanted without intents

  PermanentWants& permanent() { return permanent_; }
  // Counts the keys of intents that become due, unless null.
  void set_frequencies(KeyFrequencies* frequencies) { frequencies_ = frequencies; }

  // --- accesses

  // `name`: of the table, for its causes.
  void add_table(lapse::TableId table, std::string name);
  bool counts_remote(std::uint32_t worker) const override;
  // Requires counts_remote.
  void count_remote(const lapse::RemoteAccess& access) override LAPSE_REQUIRES(lapse::progress_role);
  // By table, without those that have none; empty if the technique does not act on intents.
  std::vector<RemoteCauses> causes() const;

  // --- rounds

  void begin_round(lapse::WantSink& sink) override LAPSE_REQUIRES(lapse::progress_role);
  // Includes the permanent wants of a technique.
  bool pending() const override;
  // The counters of this rank.
  IntentCounters counters() const;
  IntentEffect effect() const;

 private:
  void want(lapse::WantSink& sink, lapse::TableId table, std::span<const lapse::Key> keys)
      LAPSE_REQUIRES(lapse::progress_role);
  // Calls f(keys) for pieces of a range, or of the keys of an intent at places [from, to) (LargeIntents).
  template <class F>
  void for_each_piece(KeyRange range, F&& f);
  template <class F>
  void for_each_piece(const Intent& intent, std::uint64_t from, std::uint64_t to, F&& f);
  void activate(WorkerIntents& worker, lapse::Clock now, lapse::WantSink& sink)
      LAPSE_REQUIRES(lapse::progress_role);
  void expire(WorkerIntents& worker, lapse::WantSink& sink) LAPSE_REQUIRES(lapse::progress_role);
  // Counts an intent that becomes actionable in this round.
  void count_actionable(const Intent& intent, lapse::Clock now);
  void begin_worker_round(WorkerIntents& worker, lapse::WantSink& sink) LAPSE_REQUIRES(lapse::progress_role);

  // constant
  const ActionTimer::Settings timing_;
  const TechniqueTraits traits_;
  // constant during a phase
  std::vector<std::shared_ptr<WorkerIntents>> workers_;
  KeyFrequencies* frequencies_ = nullptr;
  std::uint64_t phase_ = 0;
  // used by rounds
  PermanentWants permanent_;
  DistinctKeys distinct_;
  std::vector<lapse::Key> piece_;
  IntentCounters counters_;
  std::vector<RemoteCauses> causes_;  // by table
};

}  // namespace adapm
