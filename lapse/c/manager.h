/* Clocks, intents and samples. */
#ifndef LAPSE_C_MANAGER_H
#define LAPSE_C_MANAGER_H

#include <stddef.h>
#include <stdint.h>

#include "lapse/c/status.h"
#include "lapse/c/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- every worker --- */

/* Advances the worker's clock, which starts at 0: a new step, such as a batch, begins. */
LAPSE_C_API lapse_status lapse_advance_clock(lapse_worker* worker);
LAPSE_C_API lapse_status lapse_current_clock(const lapse_worker* worker, int64_t* clock);

/* --- workers of a manager; others return LAPSE_ERROR_USAGE --- */

/* The worker will access the keys while its clock is at least `start` and below `end`. */
LAPSE_C_API lapse_status lapse_intent(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                      size_t count, int64_t start, int64_t end);
/* The same for the keys in [first, past). */
LAPSE_C_API lapse_status lapse_intent_range(lapse_worker* worker, const lapse_table* table, uint64_t first,
                                            uint64_t past, int64_t start, int64_t end);
/* The same for keys that are only read: their replicas send nothing. Writes are allowed nevertheless. */
LAPSE_C_API lapse_status lapse_intent_read(lapse_worker* worker, const lapse_table* table,
                                           const uint64_t* keys, size_t count, int64_t start, int64_t end);
LAPSE_C_API lapse_status lapse_intent_range_read(lapse_worker* worker, const lapse_table* table,
                                                 uint64_t first, uint64_t past, int64_t start, int64_t end);

/* Collective. For the technique nups: sets how often each key of a dense table will be accessed, one count
 * per key. Call it before the first phase that uses the table. Returns LAPSE_ERROR_USAGE for a server without
 * a manager. */
LAPSE_C_API lapse_status lapse_set_frequencies(lapse_server* server, const lapse_table* table,
                                               const uint64_t* counts, size_t count);

typedef enum lapse_scheme {
  LAPSE_SCHEME_DEFAULT = -1, /* as the options of the manager say */
  LAPSE_NAIVE = 0,
  LAPSE_PRELOCALISED = 1,
  LAPSE_POOL = 2,
  LAPSE_LOCAL_SCHEME = 3
} lapse_scheme;

/* Collective. Samplers of the keys first to first + count - 1: uniform; log-uniform, for keys sorted by
 * falling frequency; weighted, key first + i by weights[i]. */
LAPSE_C_API lapse_status lapse_sampler_uniform(lapse_server* server, const lapse_table* table, uint64_t first,
                                               uint64_t count, lapse_scheme scheme, int with_replacement,
                                               lapse_sampler** sampler);
LAPSE_C_API lapse_status lapse_sampler_log_uniform(lapse_server* server, const lapse_table* table,
                                                   uint64_t first, uint64_t count, lapse_scheme scheme,
                                                   int with_replacement, lapse_sampler** sampler);
LAPSE_C_API lapse_status lapse_sampler_weighted(lapse_server* server, const lapse_table* table,
                                                uint64_t first, const double* weights, size_t count,
                                                lapse_scheme scheme, int with_replacement,
                                                lapse_sampler** sampler);

/* Options of a sampler; by lapse_sampler_options_init: those of the manager. */
typedef struct lapse_sampler_options {
  size_t size; /* sizeof(lapse_sampler_options): set by lapse_sampler_options_init */
  lapse_scheme scheme;
  int with_replacement;  /* 0: the keys of one sample differ */
  lapse_choice postpone; /* a key that is not local is used after later ones of its sample */
  uint32_t pool_keys;    /* of one pool; 0: the manager's option */
  uint32_t pool_uses;    /* of each key of a pool; 0: the manager's option */
  const uint64_t* seed;  /* of all draws; NULL: the number of the sampler in its manager */
} lapse_sampler_options;
LAPSE_C_API void lapse_sampler_options_init(lapse_sampler_options* options);
/* Collective. weights: weights[i] of key first + i. NULL: uniform, or log-uniform if log_uniform is not 0. */
LAPSE_C_API lapse_status lapse_sampler_create(lapse_server* server, const lapse_table* table, uint64_t first,
                                              uint64_t count, int log_uniform, const double* weights,
                                              const lapse_sampler_options* options, lapse_sampler** sampler);

LAPSE_C_API lapse_status lapse_sample_prepare(lapse_worker* worker, const lapse_sampler* sampler, size_t keys,
                                              int64_t start, int64_t end, lapse_sample** sample);
/* Gives the next keys of the sample, and pulls their values. */
LAPSE_C_API lapse_status lapse_sample_pull(lapse_worker* worker, lapse_sample* sample, uint64_t* keys,
                                           size_t count, void* values, size_t elements);
LAPSE_C_API lapse_status lapse_sample_take(lapse_worker* worker, lapse_sample* sample, uint64_t* keys,
                                           size_t count);
LAPSE_C_API void lapse_sample_finish(lapse_sample* sample);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
