/* Servers and phases. */
#ifndef LAPSE_C_SERVER_H
#define LAPSE_C_SERVER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "lapse/c/status.h"
#include "lapse/core/mpi_library.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- servers --- */

/* An option by its full name in docs/options.md: "lapse.domain", "adapm.technique". */
typedef struct lapse_option {
  const char* name;
  const char* value;
} lapse_option;

/* Call before MPI_Init. Sets the settings of the MPI library that this library works best with. */
LAPSE_C_API lapse_status lapse_prepare_mpi(void);

/* Collective. Options given here override the environment. Requires the same options on all ranks. */
LAPSE_C_API lapse_status lapse_server_create(MPI_Comm communicator, const lapse_option* options, size_t count,
                                             lapse_server** server);
/* Collective. The same with an adaptive parameter manager, whose workers have clocks and intents. */
LAPSE_C_API lapse_status lapse_manager_create(MPI_Comm communicator, const lapse_option* options,
                                              size_t count, lapse_server** server);
/* The same with a Fortran communicator. */
LAPSE_C_API lapse_status lapse_server_create_fortran(MPI_Fint communicator, const lapse_option* options,
                                                     size_t count, lapse_server** server);
LAPSE_C_API lapse_status lapse_manager_create_fortran(MPI_Fint communicator, const lapse_option* options,
                                                      size_t count, lapse_server** server);
/* Collective. */
LAPSE_C_API lapse_status lapse_server_close(lapse_server* server);
/* Not collective. Frees the handle and its tables after lapse_server_close. NULL is allowed. Returns
 * LAPSE_ERROR_USAGE, without effect, if the server is not closed, or if operations, leases, samples,
 * checkpoints, jobs or attached workers of it are not freed. */
LAPSE_C_API lapse_status lapse_server_free(lapse_server* server);
LAPSE_C_API lapse_status lapse_server_rank(const lapse_server* server, int32_t* rank, int32_t* ranks);
/* Collective. The counters of all ranks, as JSON. Free *json with lapse_free. */
LAPSE_C_API lapse_status lapse_statistics_json(lapse_server* server, char** json);
LAPSE_C_API void lapse_free(void* memory);
/* Between phases. The memory of this rank for all tables and for messages, in bytes. */
LAPSE_C_API lapse_status lapse_memory_use(const lapse_server* server, uint64_t* bytes);
/* For each rank the number of its host; ranks of one host have the same number. count: the number of
 * ranks. */
LAPSE_C_API lapse_status lapse_server_hosts(const lapse_server* server, int32_t* hosts, size_t count);

/* Any thread. Asks the workers of all ranks to return early; this cannot be undone. Other ranks learn it soon
 * during a phase, else in the next phase. */
LAPSE_C_API lapse_status lapse_request_stop(lapse_server* server);
/* Any thread. 1 if any rank has requested a stop, else 0. */
LAPSE_C_API lapse_status lapse_stop_requested(const lapse_server* server, int* requested);

/* --- hooks --- */

/* For all servers of the process. Any thread calls the hooks, several at a time. `log` gets each message
 * instead of standard error; `fatal` gets the reason before the library ends the job with MPI_Abort. Hooks
 * must not call the library. NULL: none. level: 0 error, 1 warning, 2 info, 3 debug. */
LAPSE_C_API lapse_status lapse_set_hooks(void (*log)(void* context, int level, int32_t rank,
                                                     const char* message),
                                         void (*fatal)(void* context, int32_t rank, const char* reason),
                                         void* context);

/* Likewise. Called at the begin and end of regions that take a thread's time; docs/regions.md lists the
 * names, which are constants. */
LAPSE_C_API lapse_status lapse_set_region_hooks(void (*begin)(void* context, const char* name),
                                                void (*end)(void* context, const char* name), void* context);

/* --- traces of allocation (docs/allocation-traces.md) --- */

/* Any thread. A named interval, such as an epoch, that has taken these seconds and ends now.
 * LAPSE_ERROR_USAGE for seconds that are negative or not finite. */
LAPSE_C_API lapse_status lapse_trace_band(const char* name, double seconds);
/* Any thread. A property of the run; the last value of a name counts. */
LAPSE_C_API lapse_status lapse_trace_note(const char* name, const char* value);

/* --- phases --- */

/* The function of a worker. If it does not return 0, the worker has failed, and the phase ends on every
 * rank. */
typedef int (*lapse_worker_function)(lapse_worker* worker, void* context);

/* Collective. */
LAPSE_C_API lapse_status lapse_run_workers(lapse_server* server, int32_t workers,
                                           lapse_worker_function function, void* context);
LAPSE_C_API lapse_status lapse_run_here(lapse_server* server, lapse_worker_function function, void* context);
LAPSE_C_API lapse_status lapse_start_progress(lapse_server* server, int32_t workers);
LAPSE_C_API lapse_status lapse_stop_progress(lapse_server* server);
/* Any thread. place: below 0 for the first free one. */
LAPSE_C_API lapse_status lapse_attach(lapse_server* server, int32_t place, lapse_worker** worker);
/* Ends a worker of lapse_attach, and frees the handle, also if an error is returned. */
LAPSE_C_API lapse_status lapse_detach(lapse_worker* worker);
/* The same for a worker that has failed: ends the phase on every rank with this reason. NULL:
 * lapse_last_error(). */
LAPSE_C_API lapse_status lapse_detach_failed(lapse_worker* worker, const char* reason);
LAPSE_C_API lapse_status lapse_progress(lapse_server* server, int64_t microseconds);
/* Between the two calls, no thread of a server is inside MPI. One thread makes both calls, and calls no
 * server in between: LAPSE_ERROR_USAGE if such a call would deadlock, except that calls of workers are not
 * checked. */
LAPSE_C_API lapse_status lapse_mpi_lock(lapse_server* server);
LAPSE_C_API lapse_status lapse_mpi_unlock(lapse_server* server);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
