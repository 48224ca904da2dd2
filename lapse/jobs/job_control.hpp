// Decides when a job saves a checkpoint, and when it stops early: at a signal, or when its time ends.
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

// The interval between checkpoints ends at the first limit reached. Without limits: never.
struct CheckpointInterval {
  std::optional<std::uint64_t> epochs = {};
  std::optional<std::uint64_t> clocks = {};
  std::optional<std::chrono::seconds> time = {};
};

// The progress of a job, in units that the application chooses.
struct JobProgress {
  std::uint64_t epochs = 0;
  std::uint64_t clocks = 0;
};

struct JobControlOptions {
  // Signals that ask the job to stop, such as SIGUSR1 and SIGTERM. If empty, no handler is installed.
  std::vector<int> signals = {};
  CheckpointInterval checkpoint_interval = {};
  // When the job will be ended from outside. By default, SLURM_JOB_END_TIME of rank 0, which srun and sbatch
  // set, in seconds since 1970; without that variable, never.
  std::optional<std::chrono::system_clock::time_point> deadline = {};
  std::chrono::seconds grace{120};  // the job is to stop this long before the deadline
};

// One object on each rank for a server. Rank 0 decides about times, so clocks need not agree. A signal on any
// rank suffices. For users: docs/stop-and-resume.md.
//
// Thread safety: collective and mutating calls: the server's thread, between phases. stop_requested and
// checkpoint_due: that thread, and workers.
class LAPSE_EXPORT JobControl {
 public:
  // Collective. The server outlives the object. Throws UsageError for a signal that cannot be caught or an
  // interval of 0, ConfigurationError if SLURM_JOB_END_TIME holds no time, CollectiveMismatch if the ranks
  // have different intervals; every rank throws.
  JobControl(ParameterServer& server, const JobControlOptions& options);
  // Restores the former handlers of the signals.
  ~JobControl();
  JobControl(const JobControl&) = delete;
  JobControl& operator=(const JobControl&) = delete;

  // Not collective; cheap. Returns true if a signal has arrived or the time is over, on this rank or, as far
  // as this rank knows, on another one. A worker that checks this repeatedly, and returns early if it is
  // true, makes the phase end soon on all ranks: the request of one rank reaches the others within the phase.
  bool stop_requested() const;
  // The same for a checkpoint: true if the time of the interval is over.
  bool checkpoint_due() const;

  // Collective. Returns true on all ranks or on none if the job is to stop: true if stop_requested was on any
  // rank.
  bool should_stop();
  // Returns why should_stop was true: "SIGUSR1 on rank 2", "the time of the job ends".
  const std::string& stop_reason() const;
  // Collective. Returns true if a checkpoint is due, and then restarts the interval. Uses rank 0's progress,
  // and any rank's checkpoint_due.
  bool need_checkpoint(const JobProgress& progress);
  // Collective. Restarts the interval, after a checkpoint for another reason or after a load.
  void begin_interval(const JobProgress& progress);

 private:
  struct LAPSE_HIDDEN Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace lapse
