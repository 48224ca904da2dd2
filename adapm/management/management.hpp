// The state of a parameter manager on one rank, besides its server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapm/intent_handle.hpp"
#include "adapm/intents/intent_rounds.hpp"
#include "adapm/intents/key_frequencies.hpp"
#include "adapm/management/techniques.hpp"
#include "adapm/options.hpp"
#include "adapm/sampling_options.hpp"
#include "adapm/tracing/key_trace.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/worker.hpp"

namespace adapm {

class Distribution;

// Holds the technique's policy, the intents, and the permanently replicated keys.
//
// Thread safety: one thread, while no engine runs. The engine uses the intent source and the policy.
class Management {
 public:
  explicit Management(const Options& options);
  // The process that made the manager.
  const lapse::OwnProcess& process() const { return process_; }

  // Traces single keys. Call it before attach.
  void trace(std::unique_ptr<KeyTrace> trace) { trace_ = std::move(trace); }
  // Null if no key is traced.
  KeyTrace* trace() { return trace_.get(); }
  // Registers this object with the server, if the technique wants keys at all. The object must outlive the
  // server.
  void attach(lapse::ParameterServer& server);

  // `replicable`: its keys may have replicas. The table must outlive the object.
  void add_table(const lapse::TableHandle& table, bool replicable);

  std::uint64_t begin_phase(std::size_t workers);
  // Intents end with their phase.
  void end_phase();
  void close() { rounds_.close(); }
  // Called by the worker's thread: returns the handle for its intents; ends the worker.
  IntentHandle handle(std::uint64_t phase, lapse::Worker& worker) const;
  void end_worker(std::size_t local_worker) const { rounds_.worker(local_worker)->end_phase(); }

  // --- the choice of NuPS

  // Throws UsageError unless the table's frequent keys can be chosen by these counts.
  void check_frequencies(const lapse::TableHandle& table, std::span<const std::uint64_t> counts) const;
  // Chooses the frequent keys of the table by these counts, if the technique does that. Requires
  // check_frequencies.
  void set_frequencies(const lapse::TableHandle& table, std::span<const std::uint64_t> counts);
  // Chooses the frequent keys of all tables counted in the last phase. `exchange`: collective; returns the
  // strings of all ranks.
  using Exchange = std::function<std::vector<std::string>(const std::string&)>;
  void choose_frequent(const Exchange& exchange);

  // --- sampling

  // Throws UsageError for a table of another server. `what`: what was requested for it.
  void check_server(const lapse::TableHandle& table, const char* what) const;
  // Throws UsageError or KeyOutOfRange unless such a sampler of the table is possible. `distribution` may be
  // null.
  void check_sampler(const lapse::TableHandle& table, const Distribution* distribution,
                     const Sampling& sampling, lapse::Rank rank) const;

  IntentCounters counters() const { return rounds_.counters(); }
  std::vector<RemoteCauses> causes() const { return rounds_.causes(); }
  // Empty if the technique does not act on intents.
  IntentEffect intent_effect() const {
    return traits(technique_).acts_on_intents ? rounds_.effect() : IntentEffect{};
  }

 private:
  void replicate_always(const lapse::TableHandle& table, std::vector<lapse::Key> keys);

  const lapse::OwnProcess process_;
  const Technique technique_;
  const double factor_;
  const std::uint32_t most_rounds_;  // rounds in a second; 0: no limit
  const void* server_ = nullptr;     // the server of the tables
  IntentRounds rounds_;
  std::unique_ptr<TechniquePolicy> policy_;
  std::unique_ptr<KeyTrace> trace_;
  FixedChoicePolicy* fixed_choice_;  // the policy, if the technique has a fixed choice
  KeyFrequencies frequencies_;
  std::map<lapse::TableId, lapse::TableHandle> counted_;  // whose keys are counted
};

}  // namespace adapm
