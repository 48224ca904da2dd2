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
  LAPSE_ERROR_USAGE = 1,         /* an argument, an order of calls or a thread that cannot be */
  LAPSE_ERROR_KEY = 2,           /* a key outside the table */
  LAPSE_ERROR_LENGTH = 3,        /* a number of elements that does not fit the keys */
  LAPSE_ERROR_CLOSED = 4,        /* after lapse_server_close */
  LAPSE_ERROR_COLLECTIVE = 5,    /* ranks or workers called differently */
  LAPSE_ERROR_CONFIGURATION = 6, /* an option or a specification */
  LAPSE_ERROR_MPI_STATE = 7,     /* MPI is not initialised, finalized, or its thread level is too low */
  LAPSE_ERROR_MPI = 8,           /* a call of MPI has failed */
  LAPSE_ERROR_MEMORY = 9,        /* memory that is not there */
  LAPSE_ERROR_PEER_FAILED = 10,  /* some rank has failed */
  LAPSE_ERROR_USER_CODE = 11,    /* a function of the application has failed where a key is */
  LAPSE_ERROR_CHECKPOINT = 12,   /* a file of a checkpoint: see lapse_last_error */
  LAPSE_ERROR_INTERNAL = 13      /* anything else: a defect of the library */
} lapse_status;

/* What the last call of this thread that failed said; "" before. Valid until the next such call. */
LAPSE_C_API const char* lapse_last_error(void);
/* "LAPSE_ERROR_KEY" */
LAPSE_C_API const char* lapse_status_name(lapse_status status);
/* For interfaces to other languages: lapse_last_error() says the text from now on. Returns the status. */
LAPSE_C_API lapse_status lapse_fail(lapse_status status, const char* text);
/* Of the library that runs, such as "0.1.0"; the numbers may be NULL. */
LAPSE_C_API const char* lapse_version(int* major, int* minor, int* patch);

/* --- handles --- */

typedef struct lapse_server lapse_server;     /* valid until lapse_server_free */
typedef struct lapse_table lapse_table;       /* as long as its server */
typedef struct lapse_function lapse_function; /* as long as its server */
typedef struct lapse_sampler lapse_sampler;   /* as long as its server */
typedef struct lapse_worker lapse_worker;     /* of one thread, as long as that works */
/* The rest before their server: lapse_server_free refuses otherwise. */
typedef struct lapse_operation lapse_operation;     /* until lapse_wait or lapse_operation_free */
typedef struct lapse_lease lapse_lease;             /* until lapse_lease_release */
typedef struct lapse_checkpoints lapse_checkpoints; /* until lapse_checkpoints_free */
typedef struct lapse_sample lapse_sample;           /* until lapse_sample_finish */
typedef struct lapse_job lapse_job;                 /* until lapse_job_free */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
