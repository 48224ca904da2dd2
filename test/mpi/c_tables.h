/* Tables with limits of pushes, and with consistency policies. */
#ifndef TEST_MPI_C_TABLES_H
#define TEST_MPI_C_TABLES_H

#include <math.h>
#include <mpi.h>
#include <string.h>

#include "test/mpi/c_functions.h"

/* --- limits of pushes --- */

/* A worker of one rank pushes. */
static int push_limited(lapse_worker* worker, void* context) {
  lapse_table* const table = (lapse_table*)context;
  const uint64_t keys[2] = {3, 4};
  double updates[4] = {0.25, 0, 3, -4};
  double values[4] = {0, 0, 0, 0};
  if (lapse_worker_index(worker) == 0) {
    updates[3] = HUGE_VAL;
    REFUSED(lapse_push(worker, table, keys, 2, updates, 4), LAPSE_ERROR_USAGE,
            "a push to key 4 of table 'limited' on rank 0: element 1 is inf");
    REFUSED(lapse_set(worker, table, keys, 2, updates, 4), LAPSE_ERROR_USAGE, "a set to key 4");
    updates[3] = -4;
    CHECK(lapse_push(worker, table, keys, 2, updates, 4));
    CHECK(lapse_pull(worker, table, keys, 2, values, 4));
    EXPECT(values[0] == 0.25 && values[1] == 0 && values[2] == 1.5 && values[3] == -2);
  }
  return (int)lapse_barrier(worker);
}

static void limit_pushes(const program* p) {
  lapse_table_spec spec;
  lapse_push_limits limits;
  lapse_table* table = NULL;
  char* json = NULL;
  lapse_push_limits_init(NULL);
  lapse_push_limits_init(&limits);
  lapse_table_spec_init(&spec);
  spec.name = "limited";
  spec.element = LAPSE_DOUBLE;
  spec.keys = 10;
  spec.length = 2;
  limits.max_norm = -1;
  REFUSED(lapse_table_create_limited(p->server, &spec, &limits, &table), LAPSE_ERROR_CONFIGURATION,
          "max_push_norm is -1");
  limits.max_norm = 2.5;
  limits.not_finite = (lapse_not_finite)3;
  REFUSED(lapse_table_create_limited(p->server, &spec, &limits, &table), LAPSE_ERROR_CONFIGURATION,
          "not_finite is 3");
  limits.not_finite = LAPSE_NOT_FINITE_REFUSE;
  limits.size -= 4;
  REFUSED(lapse_table_create_limited(p->server, &spec, &limits, &table), LAPSE_ERROR_CONFIGURATION,
          "lapse_push_limits_init");
  limits.size += 4;
  spec.element = LAPSE_INT32;
  REFUSED(lapse_table_create_limited(p->server, &spec, &limits, &table), LAPSE_ERROR_CONFIGURATION,
          "needs elements of type float or double");
  spec.element = LAPSE_DOUBLE;
  CHECK(lapse_table_create_limited(p->server, &spec, &limits, &table));
  CHECK(lapse_run_here(p->server, push_limited, table));
  CHECK(lapse_statistics_json(p->server, &json));
  EXPECT(strstr(json, "\"checked_rows\": 6, \"not_finite_rows\": 2, \"clipped_rows\": 1") != NULL);
  lapse_free(json);
}

/* --- consistency policies --- */

enum { kClocks = 5 };

/* At clock c, reads show at least all updates from before clock c, and the worker's own. */
static int count_in_clocks(lapse_worker* worker, void* context) {
  lapse_table* const table = (lapse_table*)context;
  const double workers = (double)lapse_worker_count(worker);
  const uint64_t key = 3;
  const double one = 1;
  for (int clock = 0; clock < kClocks; ++clock) {
    double value = -1;
    CHECK(lapse_push(worker, table, &key, 1, &one, 1));
    CHECK(lapse_pull(worker, table, &key, 1, &value, 1));
    EXPECT(value >= clock * workers + 1 && value <= kClocks * workers);
    CHECK(lapse_advance_clock(worker));
  }
  return 0;
}

static void use_policies(void) {
  lapse_server* server = NULL;
  lapse_table_spec spec;
  lapse_table* table = NULL;
  char* json = NULL;
  lapse_table_spec_init(&spec);
  spec.name = "clocked";
  spec.element = LAPSE_DOUBLE;
  spec.keys = 10;
  CHECK(lapse_manager_create(MPI_COMM_WORLD, NULL, 0, &server));
  REFUSED(lapse_table_create_with_policy(server, &spec, NULL, "cap(x)", &table), LAPSE_ERROR_CONFIGURATION,
          "cap(x)");
  spec.consistency.kind = LAPSE_CONSISTENCY_EVENTUAL;
  REFUSED(lapse_table_create_with_policy(server, &spec, NULL, "bsp", &table), LAPSE_ERROR_CONFIGURATION,
          "'bsp': expected spec->consistency to be LAPSE_CONSISTENCY_DEFAULT, it is 'eventual'");
  spec.consistency.kind = LAPSE_CONSISTENCY_DEFAULT;
  CHECK(lapse_table_create_with_policy(server, &spec, NULL, "bsp", &table));
  CHECK(lapse_run_workers(server, 2, count_in_clocks, table));
  CHECK(lapse_trace_band("clocks", 0.5));
  CHECK(lapse_trace_note("task", "counts"));
  REFUSED(lapse_trace_band("clocks", -1), LAPSE_ERROR_USAGE, "-1 seconds: expected a number from 0");
  REFUSED(lapse_trace_note(NULL, "counts"), LAPSE_ERROR_USAGE, "name");
  CHECK(lapse_statistics_json(server, &json));
  EXPECT(strstr(json, "\"clock_waits\"") != NULL);
  lapse_free(json);
  CHECK(lapse_server_close(server));
  CHECK(lapse_server_free(server));
}

#endif
