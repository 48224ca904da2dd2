// A parameter manager that needs no tuning: a parameter server that moves and replicates keys by itself,
// where workers announce what they will access (AdaPM).
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

// One object on each rank. It contains a server, to which everything applies that is said of
// lapse::ParameterServer: collective calls in the same order on all ranks, one thread, close before
// MPI_Finalize, what the destructor does, children that fork makes.
//
// Thread safety: one thread, as ParameterServer.
class LAPSE_EXPORT ParameterManager {
 public:
  // Collective. Throws as lapse::ParameterServer does, also ConfigurationError when the ranks have different
  // options of the manager.
  ParameterManager(MPI_Comm communicator, const Options& options);
  // With Options::from_environment; where the environment of a rank is wrong, every rank throws. Rank 0 reads
  // the file that its environment names, for all. Sources that are given are equal on all ranks.
  explicit ParameterManager(MPI_Comm communicator);
  ParameterManager(MPI_Comm communicator, const lapse::OptionSources& sources);
  // Collective. A manager over any transport; `helping`: workers may call into the transport.
  ParameterManager(std::unique_ptr<lapse::Transport> transport, const Options& options, bool helping = true);
  ParameterManager(const ParameterManager&) = delete;
  ParameterManager& operator=(const ParameterManager&) = delete;
  ~ParameterManager();

  lapse::Rank rank() const { return server_->rank(); }
  std::int32_t ranks() const { return server_->ranks(); }
  const Options& options() const { return options_; }

  // The server, for what concerns no intents: registered functions, memory use. Phases that it runs have
  // workers without intents; tables that it makes are sequential and never replicated.
  lapse::ParameterServer& server() { return *server_; }

  // Collective. As ParameterServer::create_table, but the table is eventual unless its options say otherwise:
  // only then, and if its update rule can be merged, may its keys be replicated. A key of another table moves
  // to the domain that wants it.
  template <lapse::Element T>
  lapse::Table<T> create_table(const lapse::TableOptions& options) {
    const lapse::TableOptions completed = with_consistency(options);
    lapse::Table<T> table = server_->create_table<T>(completed);
    add_table(table.handle(), completed);
    return table;
  }

  // As ParameterServer::estimate_memory, with the room that each value has for being copied; copies take as
  // much again.
  template <lapse::Element T>
  lapse::ParameterServer::MemoryUse estimate_memory(const lapse::TableOptions& options) const {
    return server_->estimate_memory<T>(with_consistency(options));
  }

  // Collective. For the technique nups, before the first phase that uses the dense table: how often each key
  // will be accessed, equal on all ranks. Without it the keys of intents are counted in that phase. Other
  // techniques ignore it. Throws UsageError, CollectiveMismatch.
  template <lapse::Element T>
  void set_frequencies(const lapse::Table<T>& table, std::span<const std::uint64_t> counts) {
    set_frequencies(table.handle(), counts);
  }

  // Collective. Draws keys of the table for samples of workers (prepare_sample), by a distribution
  // that is equal on all ranks. Throws KeyOutOfRange for a distribution with keys outside the table,
  // UsageError for none, for a table of another server and for options that are out of range, PeerFailed
  // where another rank does, CollectiveMismatch. Threads that use the sampler may use it at the same time.
  template <lapse::Element T>
  Sampler<T> create_sampler(const lapse::Table<T>& table, std::shared_ptr<const Distribution> distribution,
                            const SamplingOptions& options = {}) {
    return {table, make_sampler(table.handle(), std::move(distribution), options)};
  }

  // Collective. As ParameterServer::run_workers. The clock of a worker goes on from that of the last phase of
  // the worker with its number on this rank, from 0; intents end with their phase.
  void run_workers(std::int32_t workers, const std::function<void(IntentWorker&)>& f);
  // As the calls of ParameterServer, which see. What a thread has signaled in a place stays when it detaches;
  // the next thread in the place goes on from its clock.
  void run_here(const std::function<void(IntentWorker&)>& f);
  void start_progress(std::int32_t workers);
  void stop_progress();
  [[nodiscard]] AttachedIntentWorker attach(std::optional<std::size_t> place = {});
  void progress(std::chrono::microseconds wait = {}) { server_->progress(wait); }
  [[nodiscard]] lapse::MpiCalls mpi_calls() { return server_->mpi_calls(); }

  // Collective. What all ranks have counted since the start.
  Statistics statistics();

  // Collective. As ParameterServer::close. Before, prints and writes what the options say: statistics, and
  // the rest of a trace.
  void close();

 private:
  class LAPSE_HIDDEN ManagedPhase;

  // What a worker of the phase does.
  void work(const ManagedPhase& phase, lapse::Worker& base, const std::function<void(IntentWorker&)>& f);
  void choose_frequent();
  // The rest of the constructors; `problem`: why this rank has no options, or null.
  void start(const std::exception_ptr& problem);
  static lapse::TableOptions with_consistency(const lapse::TableOptions& options);
  void add_table(const lapse::TableHandle& table, const lapse::TableOptions& options);
  void set_frequencies(const lapse::TableHandle& table, std::span<const std::uint64_t> counts);
  std::shared_ptr<SamplerState> make_sampler(const lapse::TableHandle& table,
                                             std::shared_ptr<const Distribution> distribution,
                                             const SamplingOptions& options);
  void report();

  Options options_;
  std::unique_ptr<Management> management_;
  std::unique_ptr<WorkerPlaces> ended_workers_;  // of phases without attached ones
  std::unique_ptr<lapse::ParameterServer> server_;
  bool running_ = false;
  std::unique_ptr<ManagedPhase> attached_phase_;  // between start_progress and stop_progress
  std::uint64_t samplers_ = 0;
};

}  // namespace adapm
