// A parameter manager that needs no tuning: a parameter server that relocates and replicates keys by itself,
// from intents that workers announce (AdaPM).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "adapm/attached_intent_worker.hpp"
#include "adapm/intent_counters.hpp"
#include "adapm/intent_worker.hpp"
#include "adapm/options.hpp"
#include "adapm/sampler.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace adapm {

class Management;
class WorkerPlaces;

// Of all ranks. Plain data.
struct LAPSE_EXPORT Statistics {
  lapse::Statistics server;
  IntentStatistics intents;

  // {"server": ..., "intents": ...}
  std::string to_json() const;
  // Six lines for a person, then tables.
  std::string to_text() const;
};

// One object on each rank. It contains a server; the rules of lapse::ParameterServer apply: collective calls
// in the same order on all ranks, one thread, close before MPI_Finalize, the destructor, children made by
// fork.
//
// Thread safety: one thread, like ParameterServer.
class LAPSE_EXPORT ParameterManager {
 public:
  // Collective. Throws what lapse::ParameterServer throws, and ConfigurationError if the ranks have different
  // options of the manager.
  ParameterManager(MPI_Comm communicator, const Options& options);
  // Uses Options::from_environment. Every rank throws if the environment of any rank is wrong. Rank 0 reads
  // the file that its environment names, for all ranks. Requires equal `sources` on all ranks.
  explicit ParameterManager(MPI_Comm communicator);
  ParameterManager(MPI_Comm communicator, const lapse::OptionSources& sources);
  // Collective. Runs over any transport. `helping`: workers may call into the transport.
  ParameterManager(std::unique_ptr<lapse::Transport> transport, const Options& options, bool helping = true);
  ParameterManager(const ParameterManager&) = delete;
  ParameterManager& operator=(const ParameterManager&) = delete;
  ~ParameterManager();

  lapse::Rank rank() const { return server_->rank(); }
  std::int32_t ranks() const { return server_->ranks(); }
  const Options& options() const { return options_; }

  // The server, for everything unrelated to intents: registered functions, memory use. Workers of phases that
  // it runs have no intents. Tables that it makes are sequential by default, and never replicated.
  lapse::ParameterServer& server() { return *server_; }

  // Collective. Like ParameterServer::create_table, except that the default consistency is eventual. Keys are
  // not replicated in sequential tables and where the update rule cannot be merged: these are relocated to
  // the domain that wants them.
  template <lapse::Element T>
  lapse::Table<T> create_table(const lapse::TableOptions& options) {
    const lapse::TableOptions completed = with_consistency(options);
    lapse::Table<T> table = server_->create_table<T>(completed);
    add_table(table.handle(), completed);
    return table;
  }

  // Like ParameterServer::estimate_memory, with the space that each value needs to be replicable. A replica
  // takes as much again.
  template <lapse::Element T>
  lapse::ParameterServer::MemoryUse estimate_memory(const lapse::TableOptions& options) const {
    return server_->estimate_memory<T>(with_consistency(options));
  }

  // Collective. For the technique nups: sets how often each key of a dense table will be accessed, equal on
  // all ranks. Call it before the first phase that uses the table; otherwise the keys of intents are counted
  // in that phase. Other techniques ignore it. Throws UsageError, CollectiveMismatch.
  template <lapse::Element T>
  void set_frequencies(const lapse::Table<T>& table, std::span<const std::uint64_t> counts) {
    set_frequencies(table.handle(), counts);
  }

  // Collective. Makes a sampler that draws keys of the table for samples of workers (prepare_sample), by a
  // distribution equal on all ranks. Throws KeyOutOfRange for a distribution with keys outside the table,
  // UsageError for no distribution, a table of another server and options out of range, PeerFailed if another
  // rank throws, CollectiveMismatch. Several threads may use the sampler at the same time.
  template <lapse::Element T>
  Sampler<T> create_sampler(const lapse::Table<T>& table, std::shared_ptr<const Distribution> distribution,
                            const SamplingOptions& options = {}) {
    return {table, make_sampler(table.handle(), std::move(distribution), options)};
  }

  // Collective. Like ParameterServer::run_workers. A worker's clock starts at 0 and continues in the next
  // phase's worker with the same number on this rank. Intents end with their phase.
  void run_workers(std::int32_t workers, const std::function<void(IntentWorker&)>& f);
  // See ParameterServer. Intents stay with the place when its thread detaches; the next thread in the place
  // continues from its clock.
  void run_here(const std::function<void(IntentWorker&)>& f);
  void start_progress(std::int32_t workers);
  void stop_progress();
  [[nodiscard]] AttachedIntentWorker attach(std::optional<std::size_t> place = {});
  void progress(std::chrono::microseconds wait = {}) { server_->progress(wait); }
  [[nodiscard]] lapse::MpiCalls mpi_calls() { return server_->mpi_calls(); }

  // Collective. Returns the counters of all ranks since the start.
  Statistics statistics();

  // Collective. Like ParameterServer::close. Before that, prints and writes statistics and the rest of a
  // trace, as the options say.
  void close();

 private:
  class LAPSE_HIDDEN ManagedPhase;

  // Runs f as one worker of the phase.
  void work(const ManagedPhase& phase, lapse::Worker& base, const std::function<void(IntentWorker&)>& f);
  void choose_frequent();
  // The common part of the constructors. `problem`: why this rank has no options, or null.
  void start(const std::exception_ptr& problem);
  // Throws ConfigurationError for a policy that the technique cannot keep.
  lapse::TableOptions with_consistency(const lapse::TableOptions& options) const;
  void add_table(const lapse::TableHandle& table, const lapse::TableOptions& options);
  void set_frequencies(const lapse::TableHandle& table, std::span<const std::uint64_t> counts);
  std::shared_ptr<SamplerState> make_sampler(const lapse::TableHandle& table,
                                             std::shared_ptr<const Distribution> distribution,
                                             const SamplingOptions& options);
  void report();

  Options options_;
  std::unique_ptr<Management> management_;
  std::unique_ptr<WorkerPlaces> ended_workers_;  // of phases without attached workers
  std::unique_ptr<lapse::ParameterServer> server_;
  bool running_ = false;
  std::unique_ptr<ManagedPhase> attached_phase_;  // between start_progress and stop_progress
  std::uint64_t samplers_ = 0;
};

}  // namespace adapm
