/* Checks of c_program.c, and its functions that the library calls. */
#ifndef TEST_MPI_C_FUNCTIONS_H
#define TEST_MPI_C_FUNCTIONS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lapse/lapse.h"

enum { KEYS = 50, LENGTH = 3 };

static void fail(const char* what, int line, const char* text) {
  fprintf(stderr, "line %d: %s: %s\n", line, what, text);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

#define CHECK(call)                                        \
  do {                                                     \
    const lapse_status status_ = (call);                   \
    if (status_ != LAPSE_OK) {                             \
      fprintf(stderr, "%s\n", lapse_status_name(status_)); \
      fail(#call, __LINE__, lapse_last_error());           \
    }                                                      \
  } while (0)
#define EXPECT(condition)                                     \
  do {                                                        \
    if (!(condition)) fail("expected", __LINE__, #condition); \
  } while (0)
/* The call must fail with the status, and the message contain `part`. */
#define REFUSED(call, expected, part)                                                          \
  do {                                                                                         \
    const lapse_status status_ = (call);                                                       \
    if (status_ != (expected)) fail(#call, __LINE__, lapse_status_name(status_));              \
    if (strstr(lapse_last_error(), (part)) == NULL) fail(#call, __LINE__, lapse_last_error()); \
  } while (0)

typedef struct program {
  lapse_server* server;
  lapse_table* sums;  /* floats, added */
  lapse_table* means; /* doubles, by a rule of this program, with state */
  lapse_table* words; /* sparse int64, of a length for each key */
  lapse_function* clear_above;
  lapse_operation* left; /* at the end of the last phase */
  const char* folder;
  int managed;
} program;

/* --- functions that the library calls --- */

static int initial(void* context, uint64_t key, void* value, size_t length) {
  size_t i;
  (void)context;
  for (i = 0; i < length; ++i) ((float*)value)[i] = (float)key + (float)i / 4;
  return key == KEYS + 7 ? 3 : 0;
}
static int32_t home_of_key(void* context, uint64_t key) {
  (void)context;
  return (int32_t)(key % 1);
}
static size_t length_of(void* context, uint64_t key) {
  return key % 2 == 0 ? 1 : *(const size_t*)context;
}
static size_t mean_state(void* context, size_t length) {
  (void)context;
  (void)length;
  return 1;
}
static int mean_initialise(void* context, const void* value, size_t length, void* state, size_t states) {
  (void)context;
  (void)value;
  (void)length;
  (void)states;
  *(double*)state = 0;
  return 0;
}
/* The state counts the updates, the value is their mean. */
static int mean_apply(void* context, void* value, void* state, const void* update, size_t length,
                      size_t states, float scale) {
  size_t i;
  double* const count = (double*)state;
  (void)context;
  (void)states;
  if (scale != 1.0F) return 9;
  *count += 1;
  for (i = 0; i < length; ++i)
    ((double*)value)[i] += (((const double*)update)[i] - ((double*)value)[i]) / *count;
  return 0;
}
static int clear_above(void* context, uint64_t key, void* value, size_t length, const void* argument,
                       void* result) {
  size_t i;
  int32_t cleared = 0;
  (void)context;
  if (key == 13) return 4;
  for (i = 0; i < length; ++i) {
    if (((float*)value)[i] > *(const float*)argument) {
      ((float*)value)[i] = 0;
      ++cleared;
    }
  }
  memcpy(result, &cleared, sizeof cleared);
  return 0;
}
static int add_one(void* context, void* value, size_t length) {
  size_t i;
  ++*(int*)context;
  for (i = 0; i < length; ++i) ((float*)value)[i] += 1;
  return 0;
}
static int refuse_visit(void* context, uint64_t key, const void* value, size_t length) {
  (void)context;
  (void)key;
  (void)value;
  (void)length;
  return 6;
}
static int count_visits(void* context, uint64_t key, const void* value, size_t length) {
  (void)key;
  (void)value;
  (void)length;
  ++*(int64_t*)context;
  return 0;
}

static void count_line(void* context, int level, int32_t rank, const char* message) {
  (void)rank;
  if (level == 0 && strstr(message, "the function of a worker") != NULL) ++*(int*)context;
}

struct regions {
  int begun;
  int open;
};

static void open_region(void* context, const char* name) {
  struct regions* regions = (struct regions*)context;
  EXPECT(strncmp(name, "lapse ", 6) == 0);
  __atomic_add_fetch(&regions->begun, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&regions->open, 1, __ATOMIC_RELAXED);
}

static void close_region(void* context, const char* name) {
  struct regions* regions = (struct regions*)context;
  EXPECT(strncmp(name, "lapse ", 6) == 0);
  __atomic_sub_fetch(&regions->open, 1, __ATOMIC_RELAXED);
}

static void prepare_mpi(void) {
  lapse_server* server = NULL;
  REFUSED(lapse_server_create_fortran(0, NULL, 0, &server), LAPSE_ERROR_MPI_STATE, "not initialised");
  CHECK(lapse_prepare_mpi());
}

/* Runs a phase and counts its regions. */
static void run_noticed(lapse_server* server, lapse_worker_function function, void* context) {
  struct regions regions = {0, 0};
  CHECK(lapse_set_region_hooks(open_region, close_region, &regions));
  CHECK(lapse_run_workers(server, 2, function, context));
  CHECK(lapse_set_region_hooks(NULL, NULL, NULL));
  EXPECT(regions.begun >= 4 && regions.open == 0);
}

/* Makes a table, and compares it with its estimate. */
static void make_estimated(lapse_server* server, const lapse_table_spec* spec, lapse_table** table) {
  uint64_t before = 0;
  uint64_t after = 0;
  uint64_t estimated = 0;
  CHECK(lapse_memory_use(server, &before));
  CHECK(lapse_estimate_memory(server, spec, &estimated));
  CHECK(lapse_table_create(server, spec, table));
  CHECK(lapse_memory_use(server, &after));
  EXPECT(estimated > 0 && after >= before + estimated);
}

#endif
