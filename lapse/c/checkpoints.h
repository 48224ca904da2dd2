/* Checkpoints. */
#ifndef LAPSE_C_CHECKPOINTS_H
#define LAPSE_C_CHECKPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "lapse/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- checkpoints --- */

/* local_folder: NULL for none. keep: 0 for all. */
LAPSE_C_API lapse_status lapse_checkpoints_create(lapse_server* server, const char* folder,
                                                  const char* local_folder, size_t keep,
                                                  lapse_checkpoints** checkpoints);
LAPSE_C_API void lapse_checkpoints_free(lapse_checkpoints* checkpoints);
LAPSE_C_API lapse_status lapse_checkpoints_add(lapse_checkpoints* checkpoints, const lapse_table* table,
                                               const char* name);
/* Collective. `blob`: bytes of rank 0 that are saved with it; may be NULL. */
LAPSE_C_API lapse_status lapse_checkpoints_save(lapse_checkpoints* checkpoints, uint64_t step,
                                                const void* blob, size_t bytes);
LAPSE_C_API lapse_status lapse_checkpoints_save_begin(lapse_checkpoints* checkpoints, uint64_t step,
                                                      const void* blob, size_t bytes);

/* What is saved beside the tables; lapse_checkpoint_content_init: nothing. */
typedef struct lapse_bytes {
  const void* data;
  size_t size;
} lapse_bytes;
typedef struct lapse_checkpoint_content {
  size_t size;                   /* sizeof(lapse_checkpoint_content): set by the function below */
  lapse_bytes blob;              /* of rank 0 */
  const lapse_bytes* per_worker; /* one for each worker of this rank, or none */
  size_t per_worker_count;
  const int64_t* clocks; /* likewise, from 0 on */
  size_t clock_count;
} lapse_checkpoint_content;
LAPSE_C_API void lapse_checkpoint_content_init(lapse_checkpoint_content* content);
/* Collective. As lapse_checkpoints_save, or, where begins is not 0, lapse_checkpoints_save_begin. */
LAPSE_C_API lapse_status lapse_checkpoints_save_as(lapse_checkpoints* checkpoints, uint64_t step,
                                                   const lapse_checkpoint_content* content, int begins);
LAPSE_C_API lapse_status lapse_checkpoints_finish(lapse_checkpoints* checkpoints);
LAPSE_C_API int lapse_checkpoints_done(const lapse_checkpoints* checkpoints);
/* Not collective. Whether this rank's part of the last checkpoint is on a disk: 0 or 1. */
LAPSE_C_API int lapse_checkpoints_staged(const lapse_checkpoints* checkpoints);
/* Not collective. Gives the memory of the last copy back, unless it is still being written. */
LAPSE_C_API lapse_status lapse_checkpoints_release_memory(lapse_checkpoints* checkpoints);
/* Collective. step: NULL for the newest. loaded and what the blob has may be NULL; *blob is valid until the
 * next call on the checkpoints. */
LAPSE_C_API lapse_status lapse_checkpoints_load(lapse_checkpoints* checkpoints, const uint64_t* step,
                                                uint64_t* loaded, const void** blob, size_t* bytes);

/* What is loaded of one table, by its name in the checkpoint; lapse_table_load_init: all of it. */
typedef struct lapse_table_load {
  size_t size; /* sizeof(lapse_table_load): set by lapse_table_load_init */
  const char* table;
  uint64_t first_key; /* up to last_key, both included */
  uint64_t last_key;
  int state;   /* 0: without the state of the update rule, which may be another one */
  int convert; /* not 0: float may become double, int32 int64, and the other way */
} lapse_table_load;
LAPSE_C_API void lapse_table_load_init(lapse_table_load* load, const char* table);

/* What is loaded; lapse_load_request_init: as lapse_checkpoints_load without a step. */
typedef struct lapse_load_request {
  size_t size;          /* sizeof(lapse_load_request): set by lapse_load_request_init */
  const uint64_t* step; /* NULL: the newest */
  const char* folder;   /* with checkpoints of another job; NULL: that of the checkpoints */
  const lapse_table_load* tables;
  size_t table_count; /* 0: all tables that were added, whole */
  int is_fallback;    /* with a step: newer checkpoints could not be loaded, and are no abandoned branch */
} lapse_load_request;
LAPSE_C_API void lapse_load_request_init(lapse_load_request* request);
/* Collective. As lapse_checkpoints_load. */
LAPSE_C_API lapse_status lapse_checkpoints_load_as(lapse_checkpoints* checkpoints,
                                                   const lapse_load_request* request, uint64_t* loaded,
                                                   const void** blob, size_t* bytes);

/* What the last load has found of all workers that there were, in their order; the counts are 0 where nothing was
 * saved. *data is valid until the next load. */
LAPSE_C_API lapse_status lapse_checkpoints_worker_count(const lapse_checkpoints* checkpoints, size_t* bytes,
                                                        size_t* clocks);
LAPSE_C_API lapse_status lapse_checkpoints_worker_bytes(const lapse_checkpoints* checkpoints, size_t worker,
                                                        const void** data, size_t* bytes);
LAPSE_C_API lapse_status lapse_checkpoints_worker_clock(const lapse_checkpoints* checkpoints, size_t worker,
                                                        int64_t* clock);

/* About the last load, 0 and false before: how many newer checkpoints it has passed over, which of them and why;
 * whether the folder of all ranks lacks what was loaded. *text is valid until the next load. */
LAPSE_C_API lapse_status lapse_checkpoints_problem_count(const lapse_checkpoints* checkpoints, size_t* count);
LAPSE_C_API lapse_status lapse_checkpoints_problem(const lapse_checkpoints* checkpoints, size_t i,
                                                   const char** text);
LAPSE_C_API lapse_status lapse_checkpoints_only_local(const lapse_checkpoints* checkpoints, int* only_local);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
