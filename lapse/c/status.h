/* Errors, versions and handles of the C interface. */
#ifndef LAPSE_C_STATUS_H
#define LAPSE_C_STATUS_H

#include "lapse/core/version.h"

#if defined(__GNUC__) && !defined(LAPSE_STATIC)
#define LAPSE_C_API __attribute__((visibility("default")))
#else
#define LAPSE_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- errors --- */

typedef enum lapse_status {
  LAPSE_OK = 0,
  LAPSE_ERROR_USAGE = 1,         /* an invalid argument, order of calls or thread */
  LAPSE_ERROR_KEY = 2,           /* a key outside the table */
  LAPSE_ERROR_LENGTH = 3,        /* a number of elements that does not match the keys */
  LAPSE_ERROR_CLOSED = 4,        /* called after lapse_server_close */
  LAPSE_ERROR_COLLECTIVE = 5,    /* ranks or workers made different calls */
  LAPSE_ERROR_CONFIGURATION = 6, /* an invalid option or specification */
  LAPSE_ERROR_MPI_STATE = 7,     /* MPI is not initialised or finalized, or its thread level is too low */
  LAPSE_ERROR_MPI = 8,           /* an MPI call has failed */
  LAPSE_ERROR_MEMORY = 9,        /* out of memory */
  LAPSE_ERROR_PEER_FAILED = 10,  /* some rank has failed */
  LAPSE_ERROR_USER_CODE = 11,    /* a function of the application has failed at the owner of a key */
  LAPSE_ERROR_CHECKPOINT = 12,   /* a file of a checkpoint: see lapse_last_error */
  LAPSE_ERROR_INTERNAL = 13      /* a defect of the library */
} lapse_status;

/* The message of this thread's last failed call; "" before. Valid until the next failed call. */
LAPSE_C_API const char* lapse_last_error(void);
/* "LAPSE_ERROR_KEY" */
LAPSE_C_API const char* lapse_status_name(lapse_status status);
/* For bindings to other languages: sets the message of lapse_last_error(). Returns the status. */
LAPSE_C_API lapse_status lapse_fail(lapse_status status, const char* text);
/* The version of the running library, such as "0.1.0"; the pointers may be NULL. */
LAPSE_C_API const char* lapse_version(int* major, int* minor, int* patch);

/* --- handles --- */

typedef struct lapse_server lapse_server;     /* valid until lapse_server_free */
typedef struct lapse_table lapse_table;       /* as long as its server */
typedef struct lapse_function lapse_function; /* as long as its server */
typedef struct lapse_sampler lapse_sampler;   /* as long as its server */
typedef struct lapse_worker lapse_worker;     /* of one thread, until its function returns */
/* Free these before their server; otherwise lapse_server_free fails. */
typedef struct lapse_operation lapse_operation;     /* until lapse_wait or lapse_operation_free */
typedef struct lapse_lease lapse_lease;             /* until lapse_lease_release */
typedef struct lapse_checkpoints lapse_checkpoints; /* until lapse_checkpoints_free */
typedef struct lapse_sample lapse_sample;           /* until lapse_sample_finish */
typedef struct lapse_job lapse_job;                 /* until lapse_job_free */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
