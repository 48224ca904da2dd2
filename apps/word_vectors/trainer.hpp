// Trains word vectors on a parameter manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/measured_phase.hpp"
#include "apps/common/training_job.hpp"
#include "apps/word_vectors/epoch_runner.hpp"

namespace lapse::apps {

struct TrainingOptions {
  std::string tables = "vectors";        // beginning of the tables' names; one trainer of a manager has them
  std::vector<std::int32_t> workers{1};  // of each rank; a single number is that of every rank
  std::size_t dimensions = 100;
  RunnerOptions runner;
  std::optional<adapm::SamplingScheme> sampling = {};  // on several ranks; see sampling_scheme

  // Throws ConfigurationError for values that make no sense, alone or together.
  void check(std::int32_t ranks) const;
};

struct EpochRecord {
  std::uint64_t epoch = 0;  // from 1
  double loss = 0;          // mean per context with its targets, at the moment of its training
  std::uint64_t words = 0;  // of the text, which all workers have trained
  PhaseCost cost;

  double words_per_second() const { return cost.seconds > 0 ? static_cast<double>(words) / cost.seconds : 0; }
};

// Used by the thread that owns the manager. Every call is collective, and has the same effect on every rank,
// also on ranks without workers; errors are thrown on every rank.
class Trainer {
 public:
  // Collective. Creates the tables. Manager and corpus must outlive the trainer; the corpus is the same on
  // every rank. Throws ConfigurationError for impossible options.
  Trainer(adapm::ParameterManager& manager, const Corpus& corpus, const TrainingOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Called by the first worker, on its thread, during an epoch: what all workers have done, if they are as
  // fast as the first.
  using OnProgress = std::function<void(std::uint64_t epoch, const EpochProgress&, double seconds)>;

  // Collective. One epoch, or what is left of it. Throws Error when the training has diverged. on_progress
  // may differ by rank.
  const EpochRecord& run_epoch(const OnProgress& on_progress = {});

  // Collective. Trains for the epochs of the options; calls on_epoch on every rank after each. A job, which
  // may be null, saves checkpoints; where it is to be resumed, the training goes on from there, and where it
  // is to stop, the training returns, perhaps in the middle of an epoch, and has stopped.
  void run(const std::function<void(const EpochRecord&)>& on_epoch = {}, const OnProgress& on_progress = {},
           TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }

  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  const VectorTables& tables() const { return tables_; }
  std::size_t workers() const;

 private:
  std::optional<adapm::Sampler<float>> make_sampler();
  void give_frequencies();
  // Goes on in the epoch that is not finished; returns whether it is now.
  bool run_part(const OnProgress& on_progress, TrainingJob* job);
  JobProgress progress() const;

  // What a checkpoint has beside the tables.
  void begin(TrainingJob& job);
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
  std::vector<std::unique_ptr<EpochRunner>> runners_;  // by local index; each used by its worker alone
  // Of the epoch that is not finished:
  std::vector<EpochProgress> positions_;  // by local index
  PhaseCost part_cost_;                   // so far
  std::uint64_t part_clocks_ = 0;         // batches of a worker on average, so far
  std::uint64_t clocks_ = 0;              // the same, of the epochs before
  bool has_stopped_ = false;
};

}  // namespace lapse::apps
