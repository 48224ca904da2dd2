/* What workers do. */
#ifndef LAPSE_C_WORKER_H
#define LAPSE_C_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "lapse/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- workers --- */

/* NULL: 0. */
LAPSE_C_API size_t lapse_worker_index(const lapse_worker* worker);
LAPSE_C_API size_t lapse_worker_count(const lapse_worker* worker);
LAPSE_C_API size_t lapse_worker_local_index(const lapse_worker* worker);
LAPSE_C_API size_t lapse_worker_local_count(const lapse_worker* worker);

/* These wait until the values are read or applied. `elements`: the number of elements of all values; must
 * match the keys. */
LAPSE_C_API lapse_status lapse_pull(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                    size_t count, void* values, size_t elements);
LAPSE_C_API lapse_status lapse_push(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                    size_t count, const void* updates, size_t elements);
LAPSE_C_API lapse_status lapse_set(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                   size_t count, const void* values, size_t elements);
LAPSE_C_API lapse_status lapse_localize(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                        size_t count);
/* arguments and results have argument_bytes and result_bytes of the function for each key. */
LAPSE_C_API lapse_status lapse_call(lapse_worker* worker, const lapse_table* table,
                                    const lapse_function* function, const uint64_t* keys, size_t count,
                                    const void* arguments, void* results);

/* Single elements of values: element i is number indices[i] of the value of keys[i]; `elements` is the number
 * of indices and of elements. key_count: that number, or 1 for one key of all indices. Pushes apply in order;
 * the rules add, sgd, adagrad and ftrl can push to single elements. An index that a value does not have is
 * LAPSE_ERROR_USAGE. */
LAPSE_C_API lapse_status lapse_pull_elements(lapse_worker* worker, const lapse_table* table,
                                             const uint64_t* keys, size_t key_count, const uint32_t* indices,
                                             void* values, size_t elements);
LAPSE_C_API lapse_status lapse_push_elements(lapse_worker* worker, const lapse_table* table,
                                             const uint64_t* keys, size_t key_count, const uint32_t* indices,
                                             const void* updates, size_t elements);

/* These begin the same operations. `operation` may be NULL, except with results; then lapse_wait_all waits
 * for it. lapse_push_begin has copied its arguments when it returns. Values of a pull and results of a
 * call must live until the operation is finished or freed. */
LAPSE_C_API lapse_status lapse_pull_begin(lapse_worker* worker, const lapse_table* table,
                                          const uint64_t* keys, size_t count, void* values, size_t elements,
                                          lapse_operation** operation);
LAPSE_C_API lapse_status lapse_push_begin(lapse_worker* worker, const lapse_table* table,
                                          const uint64_t* keys, size_t count, const void* updates,
                                          size_t elements, float scale, lapse_operation** operation);
LAPSE_C_API lapse_status lapse_set_begin(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                         size_t count, const void* values, size_t elements,
                                         lapse_operation** operation);
LAPSE_C_API lapse_status lapse_localize_begin(lapse_worker* worker, const lapse_table* table,
                                              const uint64_t* keys, size_t count,
                                              lapse_operation** operation);
LAPSE_C_API lapse_status lapse_call_begin(lapse_worker* worker, const lapse_table* table,
                                          const lapse_function* function, const uint64_t* keys, size_t count,
                                          const void* arguments, void* results, lapse_operation** operation);
LAPSE_C_API lapse_status lapse_pull_elements_begin(lapse_worker* worker, const lapse_table* table,
                                                   const uint64_t* keys, size_t key_count,
                                                   const uint32_t* indices, void* values, size_t elements,
                                                   lapse_operation** operation);
LAPSE_C_API lapse_status lapse_push_elements_begin(lapse_worker* worker, const lapse_table* table,
                                                   const uint64_t* keys, size_t key_count,
                                                   const uint32_t* indices, const void* updates,
                                                   size_t elements, float scale, lapse_operation** operation);
LAPSE_C_API int lapse_operation_done(const lapse_operation* operation);
/* Waits for the operation and frees the handle, also if an error is returned. NULL is allowed. */
LAPSE_C_API lapse_status lapse_wait(lapse_operation* operation);
/* Frees the handle without waiting; the answer of a pull is discarded. */
LAPSE_C_API void lapse_operation_free(lapse_operation* operation);

/* Reads a value in local memory. *done: whether it was there. */
LAPSE_C_API lapse_status lapse_pull_if_local(lapse_worker* worker, const lapse_table* table, uint64_t key,
                                             void* value, size_t elements, int* done);
/* Calls function(context, value, length) on a value in local memory, in place, with exclusive access. */
LAPSE_C_API lapse_status lapse_update_if_local(lapse_worker* worker, const lapse_table* table, uint64_t key,
                                               int (*function)(void* context, void* value, size_t length),
                                               void* context, int* done);
typedef enum lapse_locality {
  LAPSE_LOCAL = 0,
  LAPSE_NOT_LOCAL = 1,
  LAPSE_PRIVATE_TO_NEIGHBOUR = 2
} lapse_locality;
LAPSE_C_API lapse_status lapse_locality_of(lapse_worker* worker, const lapse_table* table, uint64_t key,
                                           lapse_locality* locality);
/* Calls function(context, key, value, length) with a copy of every value that this rank serves. */
LAPSE_C_API lapse_status lapse_for_each_local(lapse_worker* worker, const lapse_table* table,
                                              int (*function)(void* context, uint64_t key, const void* value,
                                                              size_t length),
                                              void* context);

/* Leases keys of one table: exclusive access for this worker, as plain memory. */
LAPSE_C_API lapse_status lapse_lease_keys(lapse_worker* worker, const lapse_table* table,
                                          const uint64_t* keys, size_t count, lapse_lease** lease);
/* The same for several tables at once, each named once. Index i of the functions below counts the keys of all
 * parts. */
typedef struct lapse_lease_part {
  const lapse_table* table;
  const uint64_t* keys;
  size_t count;
} lapse_lease_part;
LAPSE_C_API lapse_status lapse_lease_tables(lapse_worker* worker, const lapse_lease_part* parts,
                                            size_t part_count, lapse_lease** lease);
/* The value of key i and its length, and the state of the update rule and its length; state may be NULL. */
LAPSE_C_API lapse_status lapse_lease_value(lapse_lease* lease, size_t i, void** value, size_t* length,
                                           void** state, size_t* state_length);
/* Like a push to key i. */
LAPSE_C_API lapse_status lapse_lease_apply(lapse_lease* lease, size_t i, const void* update, size_t elements,
                                           float scale);
/* Ends the lease and frees the handle, also if an error is returned. NULL is allowed. */
LAPSE_C_API lapse_status lapse_lease_release(lapse_lease* lease);

LAPSE_C_API lapse_status lapse_wait_all(lapse_worker* worker);
LAPSE_C_API lapse_status lapse_wait_sync(lapse_worker* worker);
/* Collective over all workers. */
LAPSE_C_API lapse_status lapse_barrier(lapse_worker* worker);
LAPSE_C_API lapse_status lapse_sync_barrier(lapse_worker* worker);
typedef enum lapse_reduce { LAPSE_SUM = 0, LAPSE_MIN = 1, LAPSE_MAX = 2 } lapse_reduce;
LAPSE_C_API lapse_status lapse_all_reduce_double(lapse_worker* worker, double* values, size_t count,
                                                 lapse_reduce reduce);
LAPSE_C_API lapse_status lapse_all_reduce_int64(lapse_worker* worker, int64_t* values, size_t count,
                                                lapse_reduce reduce);
LAPSE_C_API lapse_status lapse_broadcast(lapse_worker* worker, void* bytes, size_t count, size_t root);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
