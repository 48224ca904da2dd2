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

/* An option by its full name, as in docs/options.md: "lapse.domain", "adapm.technique". */
typedef struct lapse_option {
  const char* name;
  const char* value;
} lapse_option;

/* Before MPI_Init: settings of the MPI library that this one works best with. */
LAPSE_C_API lapse_status lapse_prepare_mpi(void);

/* Collective. Options that are given here are stronger than the environment; the same on all ranks. */
LAPSE_C_API lapse_status lapse_server_create(MPI_Comm communicator, const lapse_option* options, size_t count,
                                             lapse_server** server);
/* Collective. The same with an adaptive manager: its workers have clocks and intents. */
LAPSE_C_API lapse_status lapse_manager_create(MPI_Comm communicator, const lapse_option* options,
                                              size_t count, lapse_server** server);
/* The same for a communicator of Fortran. */
LAPSE_C_API lapse_status lapse_server_create_fortran(MPI_Fint communicator, const lapse_option* options,
                                                     size_t count, lapse_server** server);
LAPSE_C_API lapse_status lapse_manager_create_fortran(MPI_Fint communicator, const lapse_option* options,
                                                      size_t count, lapse_server** server);
/* Collective. */
LAPSE_C_API lapse_status lapse_server_close(lapse_server* server);
/* Not collective, after lapse_server_close: the memory of the handle and of its tables. NULL is fine. A server
 * that is not closed, or of which operations, leases, samples, checkpoints, jobs or attached workers are not freed,
 * stays as it is: LAPSE_ERROR_USAGE. */
LAPSE_C_API lapse_status lapse_server_free(lapse_server* server);
LAPSE_C_API lapse_status lapse_server_rank(const lapse_server* server, int32_t* rank, int32_t* ranks);
/* Collective. What all ranks have counted, as JSON; *json is released by lapse_free. */
LAPSE_C_API lapse_status lapse_statistics_json(lapse_server* server, char** json);
LAPSE_C_API void lapse_free(void* memory);
/* Bytes of this rank for all tables and for messages, between phases. */
LAPSE_C_API lapse_status lapse_memory_use(const lapse_server* server, uint64_t* bytes);
/* For each rank a number of its host, equal for ranks of one host; count: the number of ranks. */
LAPSE_C_API lapse_status lapse_server_hosts(const lapse_server* server, int32_t* hosts, size_t count);

/* Any thread. Asks the workers of all ranks to return early; never rolled back. Other ranks know within a phase
 * soon, else in the next. */
LAPSE_C_API lapse_status lapse_request_stop(lapse_server* server);
/* Any thread. Whether some rank has asked: 0 or 1. */
LAPSE_C_API lapse_status lapse_stop_requested(const lapse_server* server, int* requested);

/* --- hooks --- */

/* For all servers of the process, by any thread, several at a time: `log` gets each message in place of standard
 * error, `fatal` the reason when the library is about to end the job with MPI_Abort. They call nothing of the
 * library. NULL: none. level: 0 error, 1 warning, 2 info, 3 debug. */
LAPSE_C_API lapse_status lapse_set_hooks(void (*log)(void* context, int level, int32_t rank,
                                                     const char* message),
                                         void (*fatal)(void* context, int32_t rank, const char* reason),
                                         void* context);

/* Likewise: around what takes a thread's time; the names are constants, which docs/regions.md lists. */
LAPSE_C_API lapse_status lapse_set_region_hooks(void (*begin)(void* context, const char* name),
                                                void (*end)(void* context, const char* name), void* context);

/* --- phases --- */

/* What a worker does. Not 0: the worker has failed, and the phase ends on every rank. */
typedef int (*lapse_worker_function)(lapse_worker* worker, void* context);

/* Collective. */
LAPSE_C_API lapse_status lapse_run_workers(lapse_server* server, int32_t workers,
                                           lapse_worker_function function, void* context);
LAPSE_C_API lapse_status lapse_run_here(lapse_server* server, lapse_worker_function function, void* context);
LAPSE_C_API lapse_status lapse_start_progress(lapse_server* server, int32_t workers);
LAPSE_C_API lapse_status lapse_stop_progress(lapse_server* server);
/* Any thread. A place that is below 0: the first that is free. */
LAPSE_C_API lapse_status lapse_attach(lapse_server* server, int32_t place, lapse_worker** worker);
/* Ends the worker of lapse_attach; the handle is gone, also when a failure is returned. */
LAPSE_C_API lapse_status lapse_detach(lapse_worker* worker);
/* The same for a worker that has failed: ends the phase on every rank, with this reason; NULL: lapse_last_error(). */
LAPSE_C_API lapse_status lapse_detach_failed(lapse_worker* worker, const char* reason);
LAPSE_C_API lapse_status lapse_progress(lapse_server* server, int64_t microseconds);
/* Between the two, no thread of a server is inside MPI; both by one thread, which calls no server in between:
 * LAPSE_ERROR_USAGE where that would wait for itself, but workers are not looked at. */
LAPSE_C_API lapse_status lapse_mpi_lock(lapse_server* server);
LAPSE_C_API lapse_status lapse_mpi_unlock(lapse_server* server);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
