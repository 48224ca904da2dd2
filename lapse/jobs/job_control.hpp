// When a job saves a checkpoint, and when it ends before its work is done: at a signal, or as its time ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse {

// From one checkpoint to the next: what is reached first. None: never.
struct CheckpointInterval {
  std::optional<std::uint64_t> epochs = {};
  std::optional<std::uint64_t> clocks = {};
  std::optional<std::chrono::seconds> time = {};
};

// How far a job is, in units that the application chooses.
struct JobProgress {
  std::uint64_t epochs = 0;
  std::uint64_t clocks = 0;
};

struct JobControlOptions {
  // That ask the job to stop, such as SIGUSR1 and SIGTERM; none: no handler is installed.
  std::vector<int> signals = {};
  CheckpointInterval checkpoint_interval = {};
  // When the job will be ended from outside. Nothing: as SLURM_JOB_END_TIME says on rank 0, which srun and
  // sbatch set, in seconds since 1970; without that, never.
  std::optional<std::chrono::system_clock::time_point> deadline = {};
  std::chrono::seconds grace{120};  // before the deadline the job is to stop
};

// One object for a server on each rank. Rank 0 decides about times, so that clocks need not agree; a signal
// on any rank is enough. docs/stop-and-resume.md is the page for users.
//
// Thread safety: collective calls and those that change something: the server's thread, between calls of
// run_workers. stop_requested and checkpoint_due: that thread, and workers.
class LAPSE_EXPORT JobControl {
 public:
  // Collective. The server outlives the object. Throws UsageError for a signal that cannot be caught and for
  // an interval of 0, ConfigurationError for a variable that is no time, CollectiveMismatch where the ranks
  // have different intervals; every rank throws.
  JobControl(ParameterServer& server, const JobControlOptions& options);
  // Puts the former handlers of the signals back.
  ~JobControl();
  JobControl(const JobControl&) = delete;
  JobControl& operator=(const JobControl&) = delete;

  // Not collective, and cheap: whether a signal has come or the time is over, on this rank or, as far as this
  // rank has heard, on another one. A worker that asks now and then, and returns early when it is true, makes
  // the phase end soon on all ranks: what one rank says reaches the others within the phase.
  bool stop_requested() const;
  // The same for a checkpoint: the time of the interval is over.
  bool checkpoint_due() const;

  // Collective. Whether the job is to stop: on all ranks or on none, and true wherever stop_requested was.
  bool should_stop();
  // Why, when should_stop has been true: "SIGUSR1 on rank 2", "the time of the job ends".
  const std::string& stop_reason() const;
  // Collective. Whether it is time for a checkpoint; on true the interval begins anew. Rank 0's progress
  // counts, and any rank's checkpoint_due.
  bool need_checkpoint(const JobProgress& progress);
  // Collective. Begins the interval anew: after a checkpoint for another reason, or one that was loaded.
  void begin_interval(const JobProgress& progress);

 private:
  class LAPSE_HIDDEN Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace lapse
