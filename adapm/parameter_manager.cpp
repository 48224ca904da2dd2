#include "adapm/parameter_manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "adapm/management/management.hpp"
#include "adapm/sampling/sampler_state.hpp"
#include "adapm/tracing/key_trace.hpp"
#include "adapm/tracing/traced_keys.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/core/option_sources.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/core/tracing/trace_notes.hpp"
#include "lapse/ps/agreement/archive.hpp"
#include "lapse/ps/phase/ended_workers.hpp"
#include "lapse/store/update_rules/merge.hpp"
#include "lapse/transport/mpi/library/shared_options_file.hpp"
#include "lapse/transport/transport.hpp"

namespace adapm {

class WorkerPlaces : public lapse::EndedWorkers<IntentWorker> {};

namespace {

// What a rank contributes to the statistics.
struct RankIntents {
  IntentCounters counters;
  std::vector<RemoteCauses> causes;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& counters& causes;
  }
};

// `archives`: one per rank; empty if the destructor of that rank's manager closes.
IntentEffect effect_of_all(const std::vector<std::string>& archives) {
  IntentEffect effect;
  for (const std::string& archive : archives)
    if (!archive.empty()) effect += lapse::from_archive<IntentEffect>(archive);
  return effect;
}

}  // namespace

std::string Statistics::to_json() const {
  return fmt::format(R"({{"server": {}, "intents": {}}})", server.to_json(), intents.to_json());
}
std::string Statistics::to_text() const {
  return intents.summary_lines() + server.to_text() + "\n" + intents.to_text();
}

// --- life

ParameterManager::ParameterManager(MPI_Comm communicator, const Options& options)
    : options_(options), server_(std::make_unique<lapse::ParameterServer>(communicator, options.server)) {
  start(nullptr);
}

ParameterManager::ParameterManager(std::unique_ptr<lapse::Transport> transport, const Options& options,
                                   bool helping)
    : options_(options),
      server_(std::make_unique<lapse::ParameterServer>(std::move(transport), options.server, helping)) {
  start(nullptr);
}

ParameterManager::ParameterManager(MPI_Comm communicator)
    : ParameterManager(communicator,
                       lapse::OptionSources(lapse::shared_options_file(communicator).settings())) {}

ParameterManager::ParameterManager(MPI_Comm communicator, const lapse::OptionSources& sources) {
  std::exception_ptr problem;
  try {
    options_ = Options::from_environment(sources);
  } catch (const lapse::ConfigurationError&) {
    problem = std::current_exception();
  }
  // The server reads its part of the environment itself, for all ranks.
  server_ = problem ? std::make_unique<lapse::ParameterServer>(communicator, sources)
                    : std::make_unique<lapse::ParameterServer>(communicator, options_.server);
  start(problem);
}

ParameterManager::~ParameterManager() {
  if (!management_->process().is_left()) {
    management_->close();
  } else {
    lapse::leave_to_parent(attached_phase_);
    lapse::leave_to_parent(management_);
  }
}

void ParameterManager::start(const std::exception_ptr& problem) {
  std::unique_ptr<KeyTrace> trace;
  const auto texts = server_->exchange("the making of a parameter manager", [&] {
    if (problem) std::rethrow_exception(problem);
    options_.validate();
    if (!options_.trace_keys.empty())
      trace = std::make_unique<KeyTrace>(traced_keys(options_.trace_keys), options_.trace_file, rank());
    return options_.to_text();
  });
  for (std::size_t other = 1; other < texts.size(); ++other) {
    if (texts[other] == texts[0]) continue;
    server_->close();  // Every rank throws.
    throw lapse::ConfigurationError(
        fmt::format("the ranks have different options of the parameter manager. Rank 0:\n{}\nrank {}:\n{}",
                    texts[0], other, texts[other]));
  }
  lapse::trace_note("technique", to_string(options_.technique));
  ended_workers_ = std::make_unique<WorkerPlaces>();
  management_ = std::make_unique<Management>(options_);
  management_->trace(std::move(trace));
  management_->attach(*server_);
  if (rank() == lapse::Rank(0) && options_.server.startup_report)
    lapse::Logger(rank(), options_.server.log_level).info("options of the parameter manager:\n{}", texts[0]);
}

void ParameterManager::close() {
  if (management_->process().is_left()) return;
  report();
  const std::vector<std::string> effects = server_->close(lapse::to_archive(management_->intent_effect()));
  management_->close();
  if (rank() != lapse::Rank(0)) return;
  if (const std::string problem = effect_of_all(effects).problem(); !problem.empty())
    lapse::Logger(rank(), options_.server.log_level).warning("{}", problem);
}

void ParameterManager::report() {
  lapse::Logger logger(rank(), options_.server.log_level);
  if (KeyTrace* const trace = management_->trace()) {
    if (!trace->flush()) logger.warning("not all of the trace of keys could be written");
    if (const auto unknown = trace->unknown_tables(); !unknown.empty() && rank() == lapse::Rank(0))
      logger.warning("option trace_keys names tables that were not made: {}", fmt::join(unknown, ", "));
  }
  if (!options_.statistics_report && options_.statistics_file.empty()) return;
  const Statistics all = statistics();
  if (rank() != lapse::Rank(0)) return;
  // The option requests this, at any log level.
  if (options_.statistics_report)
    lapse::Logger(rank(), lapse::LogLevel::info).info("statistics:\n{}", all.to_text());
  if (options_.statistics_file.empty()) return;
  std::ofstream file(options_.statistics_file);
  file << all.to_json() << '\n';
  if (!file.flush()) logger.warning("the statistics could not be written to {}", options_.statistics_file);
}

// --- tables

lapse::TableOptions ParameterManager::with_consistency(const lapse::TableOptions& options) const {
  lapse::TableOptions completed = options;
  if (!completed.consistency) completed.consistency = lapse::Consistency::eventual;
  if (completed.consistency->replicates_accessed() && !replicates_wanted(options_.technique)) {
    throw lapse::ConfigurationError(fmt::format(
        "table '{}' cannot be {} with the technique {}, which does not replicate every key that is "
        "wanted",
        options.name, completed.consistency->to_string(), to_string(options_.technique)));
  }
  return completed;
}

void ParameterManager::add_table(const lapse::TableHandle& table, const lapse::TableOptions& options) {
  management_->add_table(
      table, options.consistency->may_have_copies() && options.update_rule.merge() != lapse::Merge::none);
}

namespace {

// Throws CollectiveMismatch unless all ranks gave the same text.
void check_equal(const std::vector<std::string>& texts, std::string_view call) {
  for (std::size_t other = 1; other < texts.size(); ++other) {
    if (texts[other] == texts[0]) continue;
    throw lapse::CollectiveMismatch(fmt::format("{} was called for {} on rank 0 and for {} on rank {}", call,
                                                texts[0], texts[other], other));
  }
}

}  // namespace

void ParameterManager::set_frequencies(const lapse::TableHandle& table,
                                       std::span<const std::uint64_t> counts) {
  const auto texts = server_->exchange("set_frequencies", [&] {
    management_->check_frequencies(table, counts);
    std::uint64_t checksum = 0;
    for (const std::uint64_t count : counts) checksum = lapse::mix_bits(checksum ^ count);
    return fmt::format("table '{}' with {} counts, checksum {:x}", table.name(), counts.size(), checksum);
  });
  check_equal(texts, "set_frequencies");
  management_->set_frequencies(table, counts);
}

std::shared_ptr<SamplerState> ParameterManager::make_sampler(const lapse::TableHandle& table,
                                                             std::shared_ptr<const Distribution> distribution,
                                                             const SamplingOptions& options) {
  const std::uint64_t number = samplers_++;
  const Sampling sampling{.scheme = options.scheme.value_or(options_.sampling_scheme),
                          .with_replacement = options.with_replacement,
                          .postpone = options.postpone.value_or(options_.sampling_postpone),
                          .pool_keys = options.pool_keys.value_or(options_.sampling_pool_keys),
                          .pool_uses = options.pool_uses.value_or(options_.sampling_pool_uses),
                          .seed = options.seed.value_or(number)};
  check_equal(server_->exchange("create_sampler",
                                [&] {
                                  management_->check_sampler(table, distribution.get(), sampling, rank());
                                  return fmt::format("table '{}', {}, {}", table.name(),
                                                     distribution->to_text(), to_text(sampling));
                                }),
              "create_sampler");
  return std::make_shared<SamplerState>(table, std::move(distribution), sampling);
}

// --- phases

// Spans a phase, from the call that begins it to its end (RAII).
class ParameterManager::ManagedPhase {
 public:
  ManagedPhase(ParameterManager& manager, std::int32_t workers) : manager_(manager) {
    manager.management_->process().check(fmt::format("a phase on rank {}", manager.rank().value()));
    if (manager.running_) {
      throw lapse::UsageError(fmt::format("a phase on rank {} while workers run", manager.rank().value()));
    }
    // The server refuses numbers of workers out of range.
    workers_ = static_cast<std::size_t>(std::clamp(workers, 0, lapse::ParameterServer::kMaxWorkers));
    manager.ended_workers_->prepare(workers_);
    number_ = manager.management_->begin_phase(workers_);
    manager.running_ = true;
  }
  ~ManagedPhase() {
    if (manager_.management_->process().is_left()) return;
    manager_.management_->end_phase();
    manager_.running_ = false;
  }
  ManagedPhase(const ManagedPhase&) = delete;
  ManagedPhase& operator=(const ManagedPhase&) = delete;

  std::uint64_t number() const { return number_; }
  // Ends the intents of all workers.
  void end_workers() const {
    for (std::size_t worker = 0; worker < workers_; ++worker) manager_.management_->end_worker(worker);
  }

 private:
  ParameterManager& manager_;
  std::size_t workers_ = 0;
  std::uint64_t number_ = 0;
};

namespace {

// Ends a worker's intents when the worker ends (RAII).
class WorkerPhase {
 public:
  WorkerPhase(Management& management, std::size_t local_worker)
      : management_(management), local_worker_(local_worker) {}
  ~WorkerPhase() {
    if (!management_.process().is_left()) management_.end_worker(local_worker_);
  }
  WorkerPhase(const WorkerPhase&) = delete;
  WorkerPhase& operator=(const WorkerPhase&) = delete;

 private:
  Management& management_;
  std::size_t local_worker_;
};

}  // namespace

void ParameterManager::work(const ManagedPhase& phase, lapse::Worker& base,
                            const std::function<void(IntentWorker&)>& f) {
  const WorkerPhase worker_phase(*management_, base.local_index());
  const WorkerPlaces::Life life(*ended_workers_, base.local_index(), base,
                                management_->handle(phase.number(), base));
  f(life.worker());
}

void ParameterManager::run_workers(std::int32_t workers, const std::function<void(IntentWorker&)>& f) {
  {
    const ManagedPhase phase(*this, workers);
    server_->run_workers(workers, [&](lapse::Worker& base) { work(phase, base, f); });
  }
  choose_frequent();
}

void ParameterManager::run_here(const std::function<void(IntentWorker&)>& f) {
  {
    const ManagedPhase phase(*this, 1);
    server_->run_here([&](lapse::Worker& base) { work(phase, base, f); });
  }
  choose_frequent();
}

void ParameterManager::start_progress(std::int32_t workers) {
  // Other threads may attach as soon as the server allows it.
  attached_phase_ = std::make_unique<ManagedPhase>(*this, workers);
  try {
    server_->start_progress(workers);
  } catch (...) {
    attached_phase_.reset();
    throw;
  }
}

void ParameterManager::stop_progress() {
  server_->end_attaching("stop_progress");
  const std::unique_ptr<ManagedPhase> phase = std::move(attached_phase_);
  phase->end_workers();
  server_->stop_progress();
  choose_frequent();
}

AttachedIntentWorker ParameterManager::attach(std::optional<std::size_t> place) {
  lapse::AttachedWorker base = server_->attach(place);
  IntentHandle intents = management_->handle(attached_phase_->number(), *base);
  return {std::move(base), std::move(intents)};
}

void ParameterManager::choose_frequent() {
  management_->choose_frequent([this](const std::string& mine) {
    return server_->exchange("the choice of frequent keys", [&] { return mine; });
  });
}

// --- the rest

Statistics ParameterManager::statistics() {
  Statistics statistics{.server = server_->statistics(), .intents = {}};
  const auto mine = [&] {
    return lapse::to_archive(RankIntents{management_->counters(), management_->causes()});
  };
  for (const std::string& one : server_->exchange("the statistics of intents", mine)) {
    const auto rank = lapse::from_archive<RankIntents>(one);
    statistics.intents.ranks.push_back(rank.counters);
    statistics.intents.add_causes(rank.causes);
  }
  return statistics;
}

}  // namespace adapm
