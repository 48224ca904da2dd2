// A training that saves checkpoints, stops when its job is to end, and continues in a later job.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/checkpoint_options.hpp"
#include "apps/common/existing_checkpoints.hpp"
#include "apps/common/run_identity.hpp"
#include "apps/common/saved_state.hpp"
#include "apps/common/termination_watch.hpp"
#include "lapse/core/process/signal_watch.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/jobs/job_control.hpp"

namespace lapse::apps {

// The trainer adds its tables and calls begin(). It calls pause() after every epoch, and whenever workers
// have left an epoch because shall_leave() was true. At the end it calls finish().
//
// Thread safety: the server's thread, between phases; shall_leave() also workers. Errors are thrown on every
// rank.
class TrainingJob {
 public:
  // Collective. The server must outlive the object. Throws ConfigurationError for a folder with checkpoints
  // that are not to be resumed, CheckpointError for a local folder of another run and for a folder that a
  // rank cannot write to, and what JobControl throws. From then on the process ignores the signals of the
  // options whenever they are not caught. Called by the main thread: held signals are delivered.
  TrainingJob(ParameterServer& server, const CheckpointOptions& options);
  // Waits for a checkpoint being written in the background.
  ~TrainingJob() { termination_.finish(); }
  TrainingJob(const TrainingJob&) = delete;
  TrainingJob& operator=(const TrainingJob&) = delete;

  template <Element T>
  void add(const Table<T>& table, const std::string& name) {
    checkpoints_.add(table, name);
    tables_.push_back(table.handle());
  }

  // Collective. If the training is to be resumed, loads the tables of the newest checkpoint and returns its
  // state. If that is damaged, warns and takes the one before. Throws ConfigurationError if the checkpoint is
  // of another run or has numbers that are not finite; CheckpointError, also if there is no space for a
  // checkpoint of the tables.
  std::optional<SavedState> begin(RunIdentity identity);
  // Sets the progress at the beginning, which is that of the newest checkpoint if there is one.
  void set_progress(const JobProgress& progress);

  // Whether a worker should return early, after `clocks` clocks since the last pause, because the job is to
  // stop or a checkpoint is due.
  bool shall_leave(std::uint64_t clocks);
  // Whether a worker should return early for the first of these reasons.
  bool stop_requested() { return control_.stop_requested(); }
  // Collective. Saves a checkpoint if one is due, or if the job is to stop: then returns true. A job that
  // stops where the newest checkpoint is as far saves no other one.
  bool pause(const JobProgress& progress, const std::function<SavedState()>& state);
  // Collective. Saves a last checkpoint, unless the newest has this progress.
  void finish(const JobProgress& progress, const std::function<SavedState()>& state);

  // Collective. Waits until the checkpoint being written in the background exists.
  void finish_background_save();
  // "; step 3 in <folder> is the newest checkpoint", or "".
  std::string saved_text() const;

  // One line for the user, after pause() has returned true.
  const std::string& stop_text() const { return stop_text_; }

 private:
  // Collective. Whether the common folder has checkpoints.
  bool has_steps() const;
  // Collective. Loads the requested checkpoint and returns its state. Sets `tried` to its step.
  SavedState resume(const LoadRequest& request, std::optional<std::uint64_t>& tried);
  // The content of rank 0. Throws ConfigurationError if it is of another run.
  Json require_content(const LoadedCheckpoint& loaded) const;
  // Collective. The largest step in the common folder; 0: none.
  std::uint64_t newest_step();
  // Collective. The newest complete checkpoint in the common folder whose step is not in `failed`.
  std::optional<std::uint64_t> older_step(const std::vector<std::uint64_t>& failed);
  CheckpointContent content(const SavedState& state) const;
  // Collective. f saves in the background. If it fails, later intervals retry, a limited number of times.
  void try_to_save(const std::function<void()>& f);
  void warn(const std::string& text) const;
  void finish_written();
  void finish_background();
  // Collective. Saves a checkpoint. It exists in the common folder when the call returns.
  void save(const JobProgress& progress, const std::function<SavedState()>& state);
  void finish_save(const JobProgress& progress);
  void begin_interval(const JobProgress& progress);
  bool is_saved(const JobProgress& progress) const {
    return saved_ && progress.epochs == saved_->epochs && progress.clocks == saved_->clocks;
  }

  ParameterServer& server_;
  CheckpointOptions options_;
  SignalWatch signals_;  // begins before the job control, lasts until the process ends
  TerminationWatch termination_;
  Checkpoints checkpoints_;
  std::vector<TableHandle> tables_;  // of these
  JobControl control_;
  RunIdentity identity_;
  ExistingCheckpoints existing_;  // before the start
  std::uint64_t next_step_ = 1;
  bool only_local_ = false;                        // the loaded checkpoint is missing on other hosts
  std::optional<JobProgress> saved_ = {};          // of the newest checkpoint, or of a new training
  std::uint64_t saved_step_ = 0;                   // its step; 0: none
  JobProgress saving_;                             // of the checkpoint being saved in the background
  bool is_saving_ = false;                         // in the background
  int failed_saves_ = 0;                           // in a row
  std::uint64_t interval_clocks_ = 0;              // at the begin of the interval
  std::optional<std::uint64_t> clocks_left_ = {};  // left in the interval
  std::atomic<bool> clocks_over_ = false;          // a worker has left because none were left
  std::string stop_text_;
};

// Collective. Makes a training job if the options have a folder. Otherwise held signals take effect.
void make_training_job(std::optional<TrainingJob>& job, ParameterServer& server,
                       const CheckpointOptions& options);

}  // namespace lapse::apps
