// A training that saves checkpoints, stops when its job is to end, and goes on in a later job.
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

// The trainer adds its tables and calls begin(); then it calls pause() after every epoch, and after every
// part of one that workers have left because shall_leave() was true; in the end it calls finish().
//
// Thread safety: the server's thread, between phases; shall_leave() workers, too. Errors are thrown on every
// rank.
class TrainingJob {
 public:
  // Collective. The server outlives the object. Throws ConfigurationError for a folder that has checkpoints
  // which are not to be resumed, CheckpointError for a local folder of another run and for a folder that a
  // rank cannot write to, and as JobControl does.
  // From then on the process ignores the signals of the options wherever they are not caught. By the main
  // thread: signals that were held come now.
  TrainingJob(ParameterServer& server, const CheckpointOptions& options);
  // Waits for a checkpoint that is written in the background.
  ~TrainingJob() { termination_.finish(); }
  TrainingJob(const TrainingJob&) = delete;
  TrainingJob& operator=(const TrainingJob&) = delete;

  template <Element T>
  void add(const Table<T>& table, const std::string& name) {
    checkpoints_.add(table, name);
    tables_.push_back(table.handle());
  }

  // Collective. Loads the tables of the newest checkpoint, if there is one and it is to be resumed; returns
  // its state. Where that turns out to be damaged, the one before is taken, with a warning. Throws
  // ConfigurationError where it is of another run, or has numbers that are not finite; CheckpointError, also
  // where there is no room for a checkpoint of the tables.
  std::optional<SavedState> begin(RunIdentity identity);
  // How far the training is at the beginning: the newest checkpoint, if there is one, is as far.
  void set_progress(const JobProgress& progress);

  // Whether a worker should return early, after so many clocks since the last pause: the job is to stop, or a
  // checkpoint to be saved.
  bool shall_leave(std::uint64_t clocks);
  // Whether a worker should return early for the first of these reasons.
  bool stop_requested() { return control_.stop_requested(); }
  // Collective. Saves a checkpoint if one is due, or if the job is to stop: then returns true. A job that
  // stops where the newest checkpoint is as far saves no other one.
  bool pause(const JobProgress& progress, const std::function<SavedState()>& state);
  // Collective. Saves a last checkpoint, unless the newest is as far.
  void finish(const JobProgress& progress, const std::function<SavedState()>& state);

  // Collective. Waits for a checkpoint that is written in the background, so that it exists.
  void finish_background_save();
  // "; step 3 in <folder> is the newest checkpoint", or nothing.
  std::string saved_text() const;

  // When pause() has returned true: one line for the user.
  const std::string& stop_text() const { return stop_text_; }

 private:
  // Collective. In the folder of all ranks.
  bool has_steps() const;
  // Collective. The state of the checkpoint that is asked for. Sets `tried` to its step.
  SavedState resume(const LoadRequest& request, std::optional<std::uint64_t>& tried);
  // The content of rank 0. Throws ConfigurationError where it is of another run.
  Json require_content(const LoadedCheckpoint& loaded) const;
  // Collective. The largest step in the folder of all ranks; 0: there is none.
  std::uint64_t newest_step();
  // Collective. The newest whole checkpoint in the folder of all ranks, of a step that has not failed.
  std::optional<std::uint64_t> older_step(const std::vector<std::uint64_t>& failed);
  CheckpointContent content(const SavedState& state) const;
  // Collective. f saves in the background; where that fails, the next interval tries again, a few times.
  void try_to_save(const std::function<void()>& f);
  void warn(const std::string& text) const;
  void finish_written();
  void finish_background();
  // Collective. The checkpoint exists in the folder of all ranks when the call returns.
  void save(const JobProgress& progress, const std::function<SavedState()>& state);
  void finish_save(const JobProgress& progress);
  void begin_interval(const JobProgress& progress);
  bool is_saved(const JobProgress& progress) const {
    return saved_ && progress.epochs == saved_->epochs && progress.clocks == saved_->clocks;
  }

  ParameterServer& server_;
  CheckpointOptions options_;
  SignalWatch signals_;  // from before the job's control until the process ends
  TerminationWatch termination_;
  Checkpoints checkpoints_;
  std::vector<TableHandle> tables_;  // of these
  JobControl control_;
  RunIdentity identity_;
  ExistingCheckpoints existing_;  // before the start
  std::uint64_t next_step_ = 1;
  bool only_local_ = false;                        // what was loaded: other hosts lack it
  std::optional<JobProgress> saved_ = {};          // of the newest checkpoint, or nothing is done
  std::uint64_t saved_step_ = 0;                   // its number; 0: there is none
  JobProgress saving_;                             // of what is saved in the background
  bool is_saving_ = false;                         // in the background
  int failed_saves_ = 0;                           // in a row
  std::uint64_t interval_clocks_ = 0;              // where the interval has begun
  std::optional<std::uint64_t> clocks_left_ = {};  // of the interval
  std::atomic<bool> clocks_over_ = false;          // a worker has left because of them
  std::string stop_text_;
};

// Collective. Makes a training job if the options have a folder; without one, held signals have their effect.
void make_training_job(std::optional<TrainingJob>& job, ParameterServer& server,
                       const CheckpointOptions& options);

}  // namespace lapse::apps
