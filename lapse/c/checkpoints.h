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
/* Collective. `blob`: bytes of rank 0 to save with the tables; may be NULL. */
LAPSE_C_API lapse_status lapse_checkpoints_save(lapse_checkpoints* checkpoints, uint64_t step,
                                                const void* blob, size_t bytes);
LAPSE_C_API lapse_status lapse_checkpoints_save_begin(lapse_checkpoints* checkpoints, uint64_t step,
                                                      const void* blob, size_t bytes);

/* What to save besides the tables; by lapse_checkpoint_content_init: nothing. */
typedef struct lapse_bytes {
  const void* data;
  size_t size;
} lapse_bytes;
typedef struct lapse_checkpoint_content {
  size_t size;                   /* sizeof(lapse_checkpoint_content): set by the function below */
  lapse_bytes blob;              /* of rank 0 */
  const lapse_bytes* per_worker; /* one for each worker of this rank, or none */
  size_t per_worker_count;
  const int64_t* clocks; /* likewise, each at least 0 */
  size_t clock_count;
} lapse_checkpoint_content;
LAPSE_C_API void lapse_checkpoint_content_init(lapse_checkpoint_content* content);
/* Collective. Like lapse_checkpoints_save, or like lapse_checkpoints_save_begin if begins is not 0. */
LAPSE_C_API lapse_status lapse_checkpoints_save_as(lapse_checkpoints* checkpoints, uint64_t step,
                                                   const lapse_checkpoint_content* content, int begins);
LAPSE_C_API lapse_status lapse_checkpoints_finish(lapse_checkpoints* checkpoints);
LAPSE_C_API int lapse_checkpoints_done(const lapse_checkpoints* checkpoints);
/* Not collective. 1 if this rank's part of the last checkpoint is on a disk, else 0. */
LAPSE_C_API int lapse_checkpoints_staged(const lapse_checkpoints* checkpoints);
/* Not collective. Frees the memory of the last copy, unless it is still being written. */
LAPSE_C_API lapse_status lapse_checkpoints_release_memory(lapse_checkpoints* checkpoints);
/* Collective. step: NULL for the newest. loaded, blob and bytes may be NULL; *blob is valid until the next
 * call on the checkpoints. */
LAPSE_C_API lapse_status lapse_checkpoints_load(lapse_checkpoints* checkpoints, const uint64_t* step,
                                                uint64_t* loaded, const void** blob, size_t* bytes);

/* What to load of one table, by its name in the checkpoint; by lapse_table_load_init: all of it. */
typedef struct lapse_table_load {
  size_t size; /* sizeof(lapse_table_load): set by lapse_table_load_init */
  const char* table;
  uint64_t first_key; /* up to last_key, both included */
  uint64_t last_key;
  int state;   /* 0: without the update rule's state; the rule may differ from the saved one */
  int convert; /* not 0: converts between float and double, and between int32 and int64 */
} lapse_table_load;
LAPSE_C_API void lapse_table_load_init(lapse_table_load* load, const char* table);

/* What to load; by lapse_load_request_init: the same as lapse_checkpoints_load with step NULL. */
typedef struct lapse_load_request {
  size_t size;          /* sizeof(lapse_load_request): set by lapse_load_request_init */
  const uint64_t* step; /* NULL: the newest */
  const char* folder;   /* the folder of another job's checkpoints; NULL: that of `checkpoints` */
  const lapse_table_load* tables;
  size_t table_count; /* 0: all tables that were added, whole */
  int is_fallback;    /* with a step: newer checkpoints could not be loaded; they are no abandoned branch */
} lapse_load_request;
LAPSE_C_API void lapse_load_request_init(lapse_load_request* request);
/* Collective. Like lapse_checkpoints_load. */
LAPSE_C_API lapse_status lapse_checkpoints_load_as(lapse_checkpoints* checkpoints,
                                                   const lapse_load_request* request, uint64_t* loaded,
                                                   const void** blob, size_t* bytes);
/* Collective. The same for tables that may have more keys than were saved: those behind the saved ones stay as
 * they are. */
LAPSE_C_API lapse_status lapse_checkpoints_load_grown(lapse_checkpoints* checkpoints,
                                                      const lapse_load_request* request, uint64_t* loaded,
                                                      const void** blob, size_t* bytes);

/* What the last load has read for the workers at the time of the save, by their numbers; the counts are 0 if
 * nothing was saved for them. *data is valid until the next load. */
LAPSE_C_API lapse_status lapse_checkpoints_worker_count(const lapse_checkpoints* checkpoints, size_t* bytes,
                                                        size_t* clocks);
LAPSE_C_API lapse_status lapse_checkpoints_worker_bytes(const lapse_checkpoints* checkpoints, size_t worker,
                                                        const void** data, size_t* bytes);
LAPSE_C_API lapse_status lapse_checkpoints_worker_clock(const lapse_checkpoints* checkpoints, size_t worker,
                                                        int64_t* clock);

/* About the last load: how many newer checkpoints it skipped, which and why; whether the common folder of all
 * ranks lacks the loaded checkpoint. 0 before the first load. *text is valid until the next load. */
LAPSE_C_API lapse_status lapse_checkpoints_problem_count(const lapse_checkpoints* checkpoints, size_t* count);
LAPSE_C_API lapse_status lapse_checkpoints_problem(const lapse_checkpoints* checkpoints, size_t i,
                                                   const char** text);
LAPSE_C_API lapse_status lapse_checkpoints_only_local(const lapse_checkpoints* checkpoints, int* only_local);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
