/* A program in C99 that uses the whole C interface, on any number of ranks. The argument is a folder for
 * checkpoints. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>

#include "lapse/lapse.h"
#include "test/mpi/c_checkpoints.h"
#include "test/mpi/c_services.h"

int test_elements(lapse_worker* worker, const lapse_table* floats, size_t length); /* c_elements.c */

/* --- calls of workers --- */

static int access_values(lapse_worker* worker, void* context) {
  const program* const p = context;
  const size_t workers = lapse_worker_count(worker);
  uint64_t keys[KEYS];
  float values[KEYS * LENGTH];
  float ones[KEYS * LENGTH];
  double updates[2];
  double means[2];
  uint64_t two_keys[2] = {3, 4};
  int64_t counts[6];
  uint64_t word_keys[2] = {1000001, 1000002};
  int64_t word_values[6] = {1, 2, 3, 4, 5, 6};
  int64_t total = 1;
  double largest;
  lapse_operation* operation = NULL;
  size_t i;
  int done = 0;
  for (i = 0; i < KEYS; ++i) keys[i] = i;
  for (i = 0; i < KEYS * LENGTH; ++i) ones[i] = 1;

  CHECK(lapse_pull(worker, p->sums, keys, KEYS, values, KEYS * LENGTH));
  for (i = 0; i < KEYS * LENGTH; ++i) EXPECT(values[i] == (float)(i / LENGTH) + (float)(i % LENGTH) / 4);
  CHECK(lapse_barrier(worker));
  CHECK(lapse_localize_begin(worker, p->sums, keys, 5, &operation));
  CHECK(lapse_push(worker, p->sums, keys, KEYS, ones, KEYS * LENGTH));
  CHECK(lapse_wait(operation));
  CHECK(lapse_push_begin(worker, p->sums, keys, 1, ones, LENGTH, 2.0F, NULL));
  CHECK(lapse_wait_all(worker));
  CHECK(lapse_sync_barrier(worker));
  CHECK(lapse_pull_begin(worker, p->sums, keys, KEYS, values, KEYS * LENGTH, &operation));
  CHECK(lapse_wait(operation));
  EXPECT(values[0] == 3 * (float)workers);
  EXPECT(values[3 * LENGTH + 1] == 3.25F + (float)workers);
  CHECK(lapse_barrier(worker));

  EXPECT(test_elements(worker, p->sums, LENGTH) == 0);

  /* with a rule of this program */
  updates[0] = (double)lapse_worker_index(worker);
  updates[1] = -updates[0];
  CHECK(lapse_push(worker, p->means, two_keys, 2, updates, 2));
  CHECK(lapse_sync_barrier(worker));
  CHECK(lapse_pull(worker, p->means, two_keys, 2, means, 2));
  EXPECT(means[0] > (double)(workers - 1) / 2 - 1e-9 && means[0] < (double)(workers - 1) / 2 + 1e-9);
  EXPECT(means[0] == -means[1]);
  if (!p->managed) /* its copies have a scale of their own */
    REFUSED(lapse_push_begin(worker, p->means, two_keys, 1, updates, 1, 0.5F, NULL) != LAPSE_OK
                ? LAPSE_ERROR_USER_CODE
                : lapse_wait_all(worker),
            LAPSE_ERROR_USER_CODE, "returned 9");
  CHECK(lapse_barrier(worker));

  /* sparse, with a length for each key: 3 and 1 */
  CHECK(lapse_push(worker, p->words, word_keys, 2, word_values, 4));
  CHECK(lapse_sync_barrier(worker));
  CHECK(lapse_pull(worker, p->words, word_keys, 2, counts, 4));
  for (i = 0; i < 4; ++i) EXPECT(counts[i] == word_values[i] * (int64_t)workers);

  /* one key */
  for (i = 0; done == 0 && i < 1000; ++i) {
    CHECK(lapse_localize(worker, p->sums, &keys[20], 1));
    CHECK(lapse_pull_if_local(worker, p->sums, 20, values, LENGTH, &done));
  }
  {
    int updated = 0;
    lapse_locality where;
    CHECK(lapse_update_if_local(worker, p->sums, 20, add_one, &updated, &done));
    EXPECT(updated == done);
    CHECK(lapse_locality_of(worker, p->sums, 20, &where));
    EXPECT(where == LAPSE_LOCAL || where == LAPSE_NOT_LOCAL);
  }
  CHECK(lapse_barrier(worker));

  /* together */
  CHECK(lapse_all_reduce_int64(worker, &total, 1, LAPSE_SUM));
  EXPECT(total == (int64_t)workers);
  largest = (double)lapse_worker_index(worker);
  CHECK(lapse_all_reduce_double(worker, &largest, 1, LAPSE_MAX));
  EXPECT(largest == (double)(workers - 1));
  total = (int64_t)lapse_worker_index(worker) + 40;
  CHECK(lapse_broadcast(worker, &total, sizeof total, workers - 1));
  EXPECT(total == (int64_t)workers + 39);
  return 0;
}

static int lease_and_call(lapse_worker* worker, void* context) {
  const program* const p = context;
  const float limit = 5;
  uint64_t keys[3] = {30, 31, 30};
  uint64_t bad = 13;
  int32_t cleared[3] = {-1, -1, -1};
  int64_t visits = 0;
  if (!p->managed) use_leases(worker, p);
  CHECK(lapse_barrier(worker));
  if (lapse_worker_index(worker) == 0) {
    CHECK(lapse_call(worker, p->sums, p->clear_above, keys, 3, &(const float[3]){limit, limit, limit}[0],
                     cleared));
    EXPECT(cleared[0] == LENGTH && cleared[2] == 0);
    REFUSED(lapse_call(worker, p->sums, p->clear_above, &bad, 1, &limit, cleared), LAPSE_ERROR_USER_CODE,
            "returned 4");
    REFUSED(lapse_call(worker, p->means, p->clear_above, &bad, 1, &limit, cleared), LAPSE_ERROR_USAGE,
            "for values of float");
  }
  CHECK(lapse_barrier(worker));
  CHECK(lapse_for_each_local(worker, p->sums, count_visits, &visits));
  if (visits > 0)
    REFUSED(lapse_for_each_local(worker, p->sums, refuse_visit, NULL), LAPSE_ERROR_USER_CODE, "returned 6");
  EXPECT(lapse_worker_index(NULL) == 0);
  CHECK(lapse_barrier(worker));
  if (lapse_worker_local_index(worker) != 0) visits = 0;
  CHECK(lapse_all_reduce_int64(worker, &visits, 1, LAPSE_SUM));
  EXPECT(visits == KEYS);
  return 0;
}

static int misuse(lapse_worker* worker, void* context) {
  const program* const p = context;
  uint64_t key = KEYS;
  float value[LENGTH];
  int64_t clock = 0;
  lapse_operation* operation;
  REFUSED(lapse_pull(worker, p->sums, &key, 1, value, LENGTH), LAPSE_ERROR_KEY, "key 50 of table 'sums'");
  key = 1;
  REFUSED(lapse_pull(worker, p->sums, &key, 1, value, 1), LAPSE_ERROR_LENGTH, "sums");
  REFUSED(lapse_pull(worker, p->sums, NULL, 1, value, LENGTH), LAPSE_ERROR_USAGE, "keys is NULL");
  REFUSED(lapse_pull(worker, p->sums, &key, 1, NULL, LENGTH), LAPSE_ERROR_USAGE, "values is NULL");
  REFUSED(lapse_pull(worker, NULL, &key, 1, value, LENGTH), LAPSE_ERROR_USAGE, "table is NULL");
  REFUSED(lapse_pull(NULL, p->sums, &key, 1, value, LENGTH), LAPSE_ERROR_USAGE, "worker is NULL");
  REFUSED(lapse_pull_begin(worker, p->sums, &key, 1, value, LENGTH, NULL), LAPSE_ERROR_USAGE, "operation");
  REFUSED(lapse_detach(worker), LAPSE_ERROR_USAGE, "was not attached");
  REFUSED(lapse_all_reduce_double(worker, NULL, 1, LAPSE_SUM), LAPSE_ERROR_USAGE, "values is NULL");
  if (!p->managed) {
    int64_t advanced = -1;
    CHECK(lapse_current_clock(worker, &clock));
    CHECK(lapse_advance_clock(worker));
    CHECK(lapse_current_clock(worker, &advanced));
    EXPECT(advanced == clock + 1);
  }
  REFUSED(lapse_current_clock(worker, NULL), LAPSE_ERROR_USAGE, "clock is NULL");
  CHECK(lapse_wait(NULL));
  CHECK(lapse_pull_begin(worker, p->sums, &key, 1, value, LENGTH, &operation));
  lapse_operation_free(operation);
  EXPECT(lapse_operation_done(NULL) == 1);
  return 0;
}

static int with_intents(lapse_worker* worker, void* context) {
  lapse_sampler* const* const samplers = ((void**)context)[1];
  const program* const p = ((void**)context)[0];
  const float ones[LENGTH] = {1, 1, 1};
  int64_t batch;
  int64_t clock = -1;
  int64_t begin;
  CHECK(lapse_current_clock(worker, &begin));
  for (batch = begin; batch < begin + 30; ++batch) {
    uint64_t key = (uint64_t)batch % KEYS;
    uint64_t drawn[2];
    float values[2 * LENGTH];
    lapse_sample* sample;
    CHECK(lapse_intent(worker, p->sums, &key, 1, batch, batch + 2));
    CHECK(lapse_intent_range(worker, p->sums, 10, 15, batch, batch + 1));
    CHECK(lapse_intent_read(worker, p->sums, &key, 1, batch + 1, batch + 2));
    CHECK(lapse_intent_range_read(worker, p->sums, 30, 35, batch, batch + 1));
    CHECK(lapse_push(worker, p->sums, &key, 1, ones, LENGTH));
    CHECK(lapse_sample_prepare(worker, samplers[batch % 3], 4, batch, batch + 3, &sample));
    CHECK(lapse_sample_pull(worker, sample, drawn, 2, values, 2 * LENGTH));
    EXPECT(drawn[0] < KEYS && drawn[1] < KEYS);
    if (batch % 3 == 2) EXPECT(drawn[0] == 21 || drawn[0] == 23);
    CHECK(lapse_sample_take(worker, sample, drawn, 2));
    REFUSED(lapse_sample_take(worker, sample, drawn, 1), LAPSE_ERROR_USAGE, "");
    lapse_sample_finish(sample);
    CHECK(lapse_advance_clock(worker));
  }
  CHECK(lapse_current_clock(worker, &clock));
  EXPECT(clock == begin + 30);
  return 0;
}

/* Worker 0 returns 17, or the status of a call that fails. */
static int one_fails(lapse_worker* worker, void* context) {
  const program* p = (const program*)context;
  const uint64_t beyond = 1000;
  if (lapse_worker_index(worker) == 0)
    return p == NULL ? 17 : (int)lapse_localize(worker, p->sums, &beyond, 1);
  return lapse_barrier(worker) == LAPSE_ERROR_PEER_FAILED ? 0 : 1;
}

/* --- the program --- */

static void make_tables(program* p) {
  static size_t odd_length = 3;
  lapse_table_spec spec;
  lapse_rule rule;
  size_t length = 0;
  lapse_table_spec_init(&spec);
  spec.name = "sums";
  spec.keys = KEYS;
  spec.length = LENGTH;
  spec.initialiser = LAPSE_INITIALISE;
  spec.initialise = initial;
  spec.home = LAPSE_HOME_RANGE;
  make_estimated(p->server, &spec, &p->sums);
  REFUSED(lapse_table_create(p->server, &spec, &p->means), LAPSE_ERROR_CONFIGURATION, "sums");
  refuse_specifications(p, &spec);

  lapse_rule_init(&rule, LAPSE_CUSTOM);
  rule.name = "mean";
  rule.merge = LAPSE_MERGE_NONE;
  rule.state_elements = mean_state;
  rule.initialise = mean_initialise;
  rule.apply = mean_apply;
  lapse_table_spec_init(&spec);
  spec.name = "means";
  spec.element = LAPSE_DOUBLE;
  spec.keys = KEYS;
  spec.rule = &rule;
  CHECK(lapse_table_create(p->server, &spec, &p->means));

  lapse_table_spec_init(&spec);
  spec.name = "words";
  spec.element = LAPSE_INT64;
  spec.sparse = 1;
  spec.lengths = length_of;
  spec.lengths_context = &odd_length;
  CHECK(lapse_table_create(p->server, &spec, &p->words));
  CHECK(lapse_table_length(p->words, 77, &length));
  EXPECT(length == 3);

  spec.size -= 8;
  REFUSED(lapse_table_create(p->server, &spec, &p->means), LAPSE_ERROR_CONFIGURATION,
          "lapse_table_spec_init");
  CHECK(lapse_function_register(p->server, "clear_above", LAPSE_FLOAT, sizeof(float), sizeof(int32_t),
                                clear_above, NULL, &p->clear_above));
}

static void with_manager(program* p) {
  lapse_sampler* samplers[3];
  const double weights[4] = {0, 1, 0, 2};
  void* context[2];
  context[0] = p;
  context[1] = samplers;
  set_frequencies(p);
  CHECK(lapse_sampler_uniform(p->server, p->sums, 0, KEYS, LAPSE_SCHEME_DEFAULT, 1, &samplers[0]));
  CHECK(lapse_sampler_log_uniform(p->server, p->sums, 0, KEYS, LAPSE_NAIVE, 0, &samplers[1]));
  CHECK(lapse_sampler_weighted(p->server, p->sums, 20, weights, 4, LAPSE_POOL, 1, &samplers[2]));
  make_samplers(p, weights, samplers);
  REFUSED(lapse_sampler_uniform(p->server, p->sums, 0, KEYS + 1, LAPSE_NAIVE, 1, &samplers[0]),
          LAPSE_ERROR_KEY, "50");
  CHECK(lapse_run_workers(p->server, 2, with_intents, context));
  CHECK(lapse_run_here(p->server, with_intents, context));
}

static void attached(program* p) {
  lapse_worker* worker = NULL;
  REFUSED(lapse_attach(p->server, -1, &worker), LAPSE_ERROR_USAGE, "start_progress");
  CHECK(lapse_start_progress(p->server, 1));
  CHECK(lapse_attach(p->server, 0, &worker));
  REFUSED(lapse_stop_progress(p->server), LAPSE_ERROR_USAGE, "1 of 1");
  CHECK(lapse_progress(p->server, 0));
  CHECK(lapse_mpi_lock(p->server));
  REFUSED(lapse_mpi_lock(p->server), LAPSE_ERROR_USAGE, "has mpi_calls");
  REFUSED(lapse_server_close(p->server), LAPSE_ERROR_USAGE, "has mpi_calls");
  REFUSED(lapse_server_create(MPI_COMM_WORLD, NULL, 0, &(lapse_server*){NULL}), LAPSE_ERROR_USAGE,
          "has mpi_calls");
  CHECK(lapse_mpi_unlock(p->server));
  REFUSED(lapse_mpi_unlock(p->server), LAPSE_ERROR_USAGE, "without lapse_mpi_lock");
  CHECK(lapse_barrier(worker));
  CHECK(lapse_detach(worker));
  CHECK(lapse_stop_progress(p->server));
}

static void use(const char* folder, int managed) {
  program p;
  const lapse_option options[2] = {{"lapse.log_level", "warning"}, {"lapse.stall_report", "30"}};
  const lapse_option unknown[1] = {{"lapse.stall_rebort", "30"}};
  char* json = NULL;
  lapse_checkpoints* checkpoints = NULL;
  int32_t rank = -1, ranks = 0;
  memset(&p, 0, sizeof p);
  p.folder = folder;
  p.managed = managed;
  REFUSED(lapse_server_create(MPI_COMM_WORLD, unknown, 1, &p.server), LAPSE_ERROR_CONFIGURATION,
          "stall_report");
  CHECK(managed ? lapse_manager_create_fortran(MPI_Comm_c2f(MPI_COMM_WORLD), options, 2, &p.server)
                : lapse_server_create(MPI_COMM_WORLD, options, 2, &p.server));
  CHECK(lapse_server_rank(p.server, &rank, &ranks));
  EXPECT(rank >= 0 && rank < ranks);
  make_tables(&p);
  ask_for_memory(&p);
  ask_for_hosts(p.server, ranks);
  try_in_child(p.server);
  run_noticed(p.server, access_values, &p);
  CHECK(lapse_run_here(p.server, lease_and_call, &p));
  CHECK(lapse_run_workers(p.server, 1, misuse, &p));
  attached(&p);
  limit_pushes(&p);
  if (managed) {
    with_manager(&p);
  } else {
    save_and_load(&p);
    stop(&p);
  }
  CHECK(lapse_statistics_json(p.server, &json));
  EXPECT(strstr(json, "\"sums\"") != NULL);
  lapse_free(json);
  REFUSED(lapse_server_free(p.server), LAPSE_ERROR_USAGE, "before lapse_server_close");
  CHECK(lapse_run_here(p.server, leave_operation, &p));
  if (!managed) CHECK(lapse_checkpoints_create(p.server, folder, NULL, 0, &checkpoints));
  {
    int lines = 0;
    CHECK(lapse_set_hooks(count_line, NULL, &lines));
    REFUSED(lapse_run_workers(p.server, 2, one_fails, managed ? &p : NULL), LAPSE_ERROR_PEER_FAILED,
            managed ? "returned 2 (LAPSE_ERROR_KEY: key 1000" : "returned 17");
    EXPECT(lines == (rank == 0 ? 1 : 0));
    CHECK(lapse_set_hooks(NULL, NULL, NULL));
  }
  CHECK(lapse_server_close(p.server));
  refused_when_closed(&p);
  REFUSED(lapse_run_workers(p.server, 1, access_values, &p), LAPSE_ERROR_CLOSED, "close");
  free_in_order(&p, checkpoints);
}

int main(int argc, char** argv) {
  int provided = 0, major = -1;
  EXPECT(strlen(lapse_last_error()) == 0);
  EXPECT(lapse_version(&major, NULL, NULL) != NULL && major >= 0);
  if (argc != 2) fail("arguments", __LINE__, "expected a folder");
  prepare_mpi();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  refuse_communicator();
  use(argv[1], 0);
  use(argv[1], 1);
  use_policies();
  control_job();
  MPI_Finalize();
  return 0;
}
