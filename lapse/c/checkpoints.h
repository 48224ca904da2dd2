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
LAPSE_C_API lapse_status lapse_checkpoints_finish(lapse_checkpoints* checkpoints);
LAPSE_C_API int lapse_checkpoints_done(const lapse_checkpoints* checkpoints);
/* Collective. step: NULL for the newest. loaded and what the blob has may be NULL; *blob is valid until the
 * next call on the checkpoints. */
LAPSE_C_API lapse_status lapse_checkpoints_load(lapse_checkpoints* checkpoints, const uint64_t* step,
                                                uint64_t* loaded, const void** blob, size_t* bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
