/* Tables, update rules and functions. */
#ifndef LAPSE_C_TABLE_H
#define LAPSE_C_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "lapse/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- tables --- */

typedef enum lapse_element {
  LAPSE_FLOAT = 0,
  LAPSE_DOUBLE = 1,
  LAPSE_INT32 = 2,
  LAPSE_INT64 = 3
} lapse_element;

typedef enum lapse_initialiser_kind {
  LAPSE_ZERO = 0,
  LAPSE_CONSTANT = 1,  /* first */
  LAPSE_UNIFORM = 2,   /* in [first, second) */
  LAPSE_NORMAL = 3,    /* mean first, standard deviation second */
  LAPSE_INITIALISE = 4 /* by the function */
} lapse_initialiser_kind;

/* Functions of the application get the context pointer given with them. Any thread of the server calls them,
 * several at a time. They must not call the library. Those that return int return 0 on success; any other
 * number becomes LAPSE_ERROR_USER_CODE with the number in its message. */
typedef int (*lapse_initialise_function)(void* context, uint64_t key, void* value, size_t length);
typedef size_t (*lapse_length_function)(void* context, uint64_t key);
typedef int32_t (*lapse_home_function)(void* context, uint64_t key);

typedef enum lapse_rule_kind {
  LAPSE_ADD = 0,
  LAPSE_ASSIGN = 1,
  LAPSE_SGD = 2,
  LAPSE_ADAGRAD = 3,
  LAPSE_ROWWISE_ADAGRAD = 4,
  LAPSE_ADAM = 5,
  LAPSE_FTRL = 6,
  LAPSE_CUSTOM = 7
} lapse_rule_kind;

typedef enum lapse_merge {
  LAPSE_MERGE_ADDITIVE = 0, /* value and state are sums of what pushes contribute */
  LAPSE_MERGE_GRADIENT = 1, /* gradients are summed */
  LAPSE_MERGE_NONE = 2      /* pushes do not commute: never replicated */
} lapse_merge;

/* What a push does. lapse_rule_init sets the defaults of the kind; parameters that the kind lacks are
 * ignored. */
typedef struct lapse_rule {
  size_t size; /* sizeof(lapse_rule): set by lapse_rule_init */
  lapse_rule_kind kind;
  double learning_rate; /* ftrl: alpha */
  double l1;
  double l2;
  double initial_accumulator;
  double epsilon;
  double beta1; /* ftrl: beta */
  double beta2;
  /* LAPSE_CUSTOM: the name, including any parameters, must be equal on all ranks */
  const char* name;
  lapse_merge merge;
  void* context;
  /* The number of state elements for a value of that length; NULL: none. */
  size_t (*state_elements)(void* context, size_t length);
  /* Writes the state for a value that was just created or set; NULL if there is no state. */
  int (*initialise)(void* context, const void* value, size_t length, void* state, size_t state_length);
  int (*apply)(void* context, void* value, void* state, const void* update, size_t length,
               size_t state_length, float scale);
} lapse_rule;
LAPSE_C_API void lapse_rule_init(lapse_rule* rule, lapse_rule_kind kind);

/* What reads may return while other workers write. */
typedef enum lapse_consistency_kind {
  LAPSE_CONSISTENCY_DEFAULT = 0,    /* sequential; eventual in a manager */
  LAPSE_CONSISTENCY_SEQUENTIAL = 1, /* per key, the operations of each worker take effect in its order */
  LAPSE_CONSISTENCY_EVENTUAL = 2    /* a key may have replicas, which show writes of other domains later */
} lapse_consistency_kind;
typedef struct lapse_consistency {
  lapse_consistency_kind kind;
} lapse_consistency;
typedef enum lapse_home { LAPSE_HOME_HASH = 0, LAPSE_HOME_RANGE = 1, LAPSE_HOME_CUSTOM = 2 } lapse_home;
typedef enum lapse_choice { LAPSE_DEFAULT = -1, LAPSE_OFF = 0, LAPSE_ON = 1 } lapse_choice;

/* lapse_table_spec_init sets the defaults: a name by the table's number, floats, length 1, values 0,
 * addition. Must be equal on all ranks. */
typedef struct lapse_table_spec {
  size_t size; /* sizeof(lapse_table_spec): set by lapse_table_spec_init */
  const char* name;
  lapse_element element;
  uint64_t keys; /* of a dense table: 0 to keys - 1 */
  int sparse;    /* not 0: any key is allowed; `keys` stays 0 */
  size_t length; /* elements of a value */
  uint64_t seed; /* of the initial values */
  lapse_initialiser_kind initialiser;
  double first;
  double second;
  lapse_initialise_function initialise;
  void* initialise_context;
  lapse_length_function lengths; /* a length for each key, instead of `length`; NULL: none */
  void* lengths_context;
  uint64_t max_keys;           /* of a sparse table, on each rank; 0: no limit */
  uint64_t memory_limit_bytes; /* likewise */
  lapse_home home;
  lapse_home_function home_function; /* of LAPSE_HOME_CUSTOM */
  void* home_context;
  const lapse_rule* rule; /* NULL: addition */
  lapse_choice location_caches;
  lapse_consistency consistency;
} lapse_table_spec;
LAPSE_C_API void lapse_table_spec_init(lapse_table_spec* spec);

/* Collective. */
LAPSE_C_API lapse_status lapse_table_create(lapse_server* server, const lapse_table_spec* spec,
                                            lapse_table** table);
/* Checks of pushes to tables of floats or doubles, before the update rule: docs/update-rules.md. */
typedef enum lapse_not_finite {
  LAPSE_NOT_FINITE_ALLOW = 0, /* not checked */
  LAPSE_NOT_FINITE_COUNT = 1, /* pushes and sets with non-finite numbers are applied and counted */
  LAPSE_NOT_FINITE_REFUSE = 2 /* they return LAPSE_ERROR_USAGE; nothing of the call is applied */
} lapse_not_finite;
typedef struct lapse_push_limits {
  size_t size; /* sizeof(lapse_push_limits): set by lapse_push_limits_init */
  lapse_not_finite not_finite;
  double max_norm; /* a push to a key with a larger L2 norm is scaled down to this norm; 0: none */
} lapse_push_limits;
LAPSE_C_API void lapse_push_limits_init(lapse_push_limits* limits);
/* Collective. Like lapse_table_create. limits: NULL for none. */
LAPSE_C_API lapse_status lapse_table_create_limited(lapse_server* server, const lapse_table_spec* spec,
                                                    const lapse_push_limits* limits, lapse_table** table);
/* Collective. Like lapse_table_create_limited. policy: a consistency policy of docs/consistency.md, such as
 * "cap(2)" or "vap(0.5, strong)", equal on all ranks, instead of spec->consistency, which has to be
 * LAPSE_CONSISTENCY_DEFAULT; NULL: none. Workers of tables with clocks must call lapse_advance_clock. */
LAPSE_C_API lapse_status lapse_table_create_with_policy(lapse_server* server, const lapse_table_spec* spec,
                                                        const lapse_push_limits* limits, const char* policy,
                                                        lapse_table** table);
/* Not collective. The memory of this rank for such a new table, in bytes, without space for replicas and for
 * keys that move to this rank later. */
LAPSE_C_API lapse_status lapse_estimate_memory(const lapse_server* server, const lapse_table_spec* spec,
                                               uint64_t* bytes);
/* Between phases. The memory of this rank for the table, in bytes, including its part of the memory that the
 * ranks of a domain share. */
LAPSE_C_API lapse_status lapse_table_memory_use(const lapse_server* server, const lapse_table* table,
                                                uint64_t* bytes);
LAPSE_C_API lapse_status lapse_table_length(const lapse_table* table, uint64_t key, size_t* length);

/* Runs at the owner of a key, with exclusive access to its value. */
typedef int (*lapse_key_function)(void* context, uint64_t key, void* value, size_t length,
                                  const void* argument, void* result);
/* Collective. */
LAPSE_C_API lapse_status lapse_function_register(lapse_server* server, const char* name,
                                                 lapse_element element, size_t argument_bytes,
                                                 size_t result_bytes, lapse_key_function function,
                                                 void* context, lapse_function** registered);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
