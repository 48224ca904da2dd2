/* When a job saves a checkpoint, and when it ends early. */
#ifndef LAPSE_C_JOB_H
#define LAPSE_C_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "lapse/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- jobs --- */

/* By lapse_job_options_init: no signals, no checkpoints at intervals, the deadline from Slurm. */
typedef struct lapse_job_options {
  size_t size;        /* sizeof(lapse_job_options): set by lapse_job_options_init */
  const int* signals; /* ask the job to stop, such as SIGUSR1 */
  size_t signal_count;
  uint64_t epochs; /* the interval of checkpoints: whichever of these is reached first; 0: none */
  uint64_t clocks;
  uint64_t seconds;
  int64_t deadline; /* when the job will be killed, in seconds since 1970; 0: from Slurm, else never */
  uint64_t grace;   /* the job is to stop this many seconds before the deadline */
} lapse_job_options;
LAPSE_C_API void lapse_job_options_init(lapse_job_options* options);

/* Collective. options: NULL for those of lapse_job_options_init. */
LAPSE_C_API lapse_status lapse_job_create(lapse_server* server, const lapse_job_options* options,
                                          lapse_job** job);
/* Not collective. Restores the previous signal handlers. */
LAPSE_C_API void lapse_job_free(lapse_job* job);
/* Not collective, also for workers. Whether a signal has arrived or the time is over, 0 or 1; whether a
 * checkpoint is due. */
LAPSE_C_API lapse_status lapse_job_stop_requested(const lapse_job* job, int* requested);
LAPSE_C_API lapse_status lapse_job_checkpoint_due(const lapse_job* job, int* due);
/* Collective. Whether the job is to stop: on all ranks or on none. */
LAPSE_C_API lapse_status lapse_job_should_stop(lapse_job* job, int* stop);
/* Why the job is to stop, else "". Valid until the next call on the job. */
LAPSE_C_API lapse_status lapse_job_stop_reason(const lapse_job* job, const char** reason);
/* Collective. Whether a checkpoint is due; if so, the interval restarts. The values of rank 0 count. */
LAPSE_C_API lapse_status lapse_job_need_checkpoint(lapse_job* job, uint64_t epochs, uint64_t clocks,
                                                   int* needed);
/* Collective. Restarts the interval, after loading a checkpoint or saving one for another reason. */
LAPSE_C_API lapse_status lapse_job_begin_interval(lapse_job* job, uint64_t epochs, uint64_t clocks);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
