// Trains word vectors on a parameter manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/measured_phase.hpp"
#include "apps/common/training_job.hpp"
#include "apps/word_vectors/epoch_runner.hpp"

namespace lapse::apps {

struct TrainingOptions {
  std::string tables = "vectors";        // prefix of the tables' names; unique in the manager
  std::vector<std::int32_t> workers{1};  // by rank; a single number applies to every rank
  std::size_t dimensions = 100;
  RunnerOptions runner;
  std::optional<adapm::SamplingScheme> sampling = {};  // on several ranks; see sampling_scheme

  // Throws ConfigurationError for invalid values or combinations.
  void check(std::int32_t ranks) const;
};

struct EpochRecord {
  std::uint64_t epoch = 0;  // from 1
  double loss = 0;          // mean per context with its targets, at the time of its training
  std::uint64_t words = 0;  // words of the text trained by all workers
  PhaseCost cost;

  double words_per_second() const { return cost.seconds > 0 ? static_cast<double>(words) / cost.seconds : 0; }
};

// Used by the manager's thread. Every call is collective, and has the same effect on every rank, also on
// ranks without workers. Errors are thrown on every rank.
class Trainer {
 public:
  // Collective. Creates the tables. Manager and corpus must outlive the trainer. Requires the same corpus on
  // every rank. Throws ConfigurationError for invalid options.
  Trainer(adapm::ParameterManager& manager, const Corpus& corpus, const TrainingOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Called by the first worker, on its thread, during an epoch, with the progress of all workers, assuming
  // that they are as fast as the first.
  using OnProgress = std::function<void(std::uint64_t epoch, const EpochProgress&, double seconds)>;

  // Collective. Trains one epoch, or the rest of it. Throws Error if the training has diverged. on_progress
  // may differ by rank.
  const EpochRecord& run_epoch(const OnProgress& on_progress = {});

  // Collective when it is called: sets the initial values of the tables. run() calls it before the first
  // epoch, unless it resumes from a checkpoint.
  void set_initial(std::function<void()> initial) { initial_ = std::move(initial); }

  // Collective. Trains for the epochs of the options; calls on_epoch on every rank after each. `job`, which
  // may be null, saves checkpoints. If it resumes, the training continues from its checkpoint. If it is to
  // stop, the training returns, maybe in the middle of an epoch, and has_stopped().
  void run(const std::function<void(const EpochRecord&)>& on_epoch = {}, const OnProgress& on_progress = {},
           TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }

  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  const VectorTables& tables() const { return tables_; }
  std::size_t workers() const;

 private:
  std::optional<adapm::Sampler<float>> make_sampler();
  void give_frequencies();
  // Continues the unfinished epoch; returns whether it is finished now.
  bool run_part(const OnProgress& on_progress, TrainingJob* job);
  JobProgress progress() const;

  // Content of a checkpoint besides the tables.
  // Returns whether it resumes.
  bool begin(TrainingJob& job);
  RunIdentity identity() const;
  SavedState saved_state() const;
  void set_state(const SavedState& state);

  adapm::ParameterManager& manager_;
  const Corpus& corpus_;
  TrainingOptions options_;
  std::int32_t local_workers_;
  Subsampling subsampling_;
  adapm::Distribution::Shared noise_;
  VectorTables tables_;
  std::optional<adapm::Sampler<float>> sampler_;  // of negatives
  std::vector<EpochRecord> epochs_;
  std::vector<std::unique_ptr<EpochRunner>> runners_;  // by local index; each used only by its worker
  // Of the unfinished epoch:
  std::vector<EpochProgress> positions_;  // by local index
  PhaseCost part_cost_;                   // so far
  std::uint64_t part_clocks_ = 0;         // batches of a worker on average, so far
  std::uint64_t clocks_ = 0;              // the same, of earlier epochs
  std::function<void()> initial_;
  bool has_stopped_ = false;
};

}  // namespace lapse::apps
