/* Calls of c_program.c other than accesses: memory, hosts, stops, leases. */
#ifndef TEST_MPI_C_SERVICES_H
#define TEST_MPI_C_SERVICES_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/mpi/c_functions.h"
#include "test/mpi/c_tables.h"

static void ask_for_memory(const program* p) {
  uint64_t all = 0;
  uint64_t sums = 0;
  uint64_t means = 0;
  CHECK(lapse_memory_use(p->server, &all));
  CHECK(lapse_table_memory_use(p->server, p->sums, &sums));
  CHECK(lapse_table_memory_use(p->server, p->means, &means));
  EXPECT(sums > 0 && means > 0 && sums + means <= all);
  REFUSED(lapse_table_memory_use(p->server, p->sums, NULL), LAPSE_ERROR_USAGE, "bytes is NULL");
  REFUSED(lapse_table_memory_use(p->server, NULL, &sums), LAPSE_ERROR_USAGE, "table is NULL");
  REFUSED(lapse_table_memory_use(NULL, p->sums, &sums), LAPSE_ERROR_USAGE, "server is NULL");
}

/* All ranks of this test are on one host. */
static void ask_for_hosts(const lapse_server* server, int32_t ranks) {
  int32_t hosts[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  int32_t i;
  EXPECT(ranks <= 8);
  CHECK(lapse_server_hosts(server, hosts, (size_t)ranks));
  for (i = 0; i < ranks; ++i) EXPECT(hosts[i] == 0);
  REFUSED(lapse_server_hosts(server, hosts, (size_t)ranks + 1), LAPSE_ERROR_USAGE, "expected");
  REFUSED(lapse_server_hosts(server, NULL, (size_t)ranks), LAPSE_ERROR_USAGE, "hosts is NULL");
}

static int refused_in_child(lapse_status status) {
  return status == LAPSE_ERROR_USAGE && strstr(lapse_last_error(), "made by fork") != NULL;
}

static int do_nothing(lapse_worker* worker, void* context) {
  (void)worker;
  (void)context;
  return 0;
}

/* In a child, calls return errors, and ending handles has no effect. */
static void try_in_child(lapse_server* server) {
  int status = -1, stopped = 0;
  uint64_t bytes = 0;
  const pid_t child = fork();
  if (child == 0) {
    int right;
    alarm(30);
    right = refused_in_child(lapse_run_here(server, do_nothing, NULL)) &&
            refused_in_child(lapse_run_workers(server, 1, do_nothing, NULL)) &&
            refused_in_child(lapse_memory_use(server, &bytes)) &&
            refused_in_child(lapse_stop_requested(server, &stopped)) &&
            lapse_server_close(server) == LAPSE_OK && lapse_server_free(server) == LAPSE_OK;
    _exit(right ? 0 : 1);
  }
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Works until some rank asks all workers to return; the last worker does so. */
static int work_until_stopped(lapse_worker* worker, void* context) {
  const program* const p = (const program*)context;
  int stopped = 0;
  EXPECT(lapse_worker_local_count(worker) == 2);
  CHECK(lapse_stop_requested(p->server, &stopped));
  EXPECT(stopped == 0);
  CHECK(lapse_barrier(worker));
  if (lapse_worker_index(worker) == lapse_worker_count(worker) - 1) CHECK(lapse_request_stop(p->server));
  while (stopped == 0) {
    CHECK(lapse_wait_all(worker));
    CHECK(lapse_stop_requested(p->server, &stopped));
  }
  return 0;
}

static void stop(program* p) {
  int stopped = -1;
  CHECK(lapse_run_workers(p->server, 2, work_until_stopped, p));
  CHECK(lapse_stop_requested(p->server, &stopped));
  EXPECT(stopped == 1);
  REFUSED(lapse_stop_requested(p->server, NULL), LAPSE_ERROR_USAGE, "requested is NULL");
  REFUSED(lapse_stop_requested(NULL, &stopped), LAPSE_ERROR_USAGE, "server is NULL");
  REFUSED(lapse_request_stop(NULL), LAPSE_ERROR_USAGE, "server is NULL");
}

static void set_frequencies(const program* p) {
  uint64_t counts[KEYS] = {7};
  CHECK(lapse_set_frequencies(p->server, p->sums, counts, KEYS));
  REFUSED(lapse_set_frequencies(p->server, p->sums, counts, KEYS - 1), LAPSE_ERROR_USAGE, "50");
  REFUSED(lapse_set_frequencies(p->server, p->sums, NULL, KEYS), LAPSE_ERROR_USAGE, "counts is NULL");
}

/* Invalid specifications whose parts are each valid. */
static void refuse_specifications(program* p, const lapse_table_spec* right) {
  lapse_table_spec spec = *right;
  size_t length = 0;
  spec.name = "refused";
  spec.consistency.kind = (lapse_consistency_kind)5;
  REFUSED(lapse_table_create(p->server, &spec, &p->means), LAPSE_ERROR_CONFIGURATION,
          "a consistency of kind 5");
  spec.consistency.kind = LAPSE_CONSISTENCY_DEFAULT;
  spec.location_caches = (lapse_choice)7;
  REFUSED(lapse_table_create(p->server, &spec, &p->means), LAPSE_ERROR_CONFIGURATION, "location_caches is 7");
  spec.location_caches = LAPSE_DEFAULT;
  spec.initialiser = LAPSE_ZERO;
  REFUSED(lapse_table_create(p->server, &spec, &p->means), LAPSE_ERROR_CONFIGURATION, "LAPSE_INITIALISE");
  spec.initialiser = LAPSE_INITIALISE;
  spec.home_function = home_of_key;
  REFUSED(lapse_table_create(p->server, &spec, &p->means), LAPSE_ERROR_CONFIGURATION, "LAPSE_HOME_CUSTOM");
  REFUSED(lapse_table_length(p->sums, KEYS, &length), LAPSE_ERROR_KEY, "key 50 of table 'sums'");
}

/* An integer that was never a communicator: some MPI libraries cannot return an error for it. */
static void refuse_communicator(void) {
  lapse_server* server = NULL;
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(name, &length);
  if (strstr(name, "Open MPI") == NULL) return;
  REFUSED(lapse_server_create_fortran(9999, NULL, 0, &server), LAPSE_ERROR_USAGE, "9999 is no communicator");
  REFUSED(lapse_manager_create_fortran(9999, NULL, 0, &server), LAPSE_ERROR_USAGE, "9999 is no communicator");
}

/* Open handles keep their server alive. */
static int leave_operation(lapse_worker* worker, void* context) {
  program* const p = (program*)context;
  const uint64_t key = 1;
  return (int)lapse_localize_begin(worker, p->sums, &key, 1, &p->left);
}

static void free_in_order(program* p, lapse_checkpoints* checkpoints) {
  REFUSED(lapse_server_free(p->server), LAPSE_ERROR_USAGE,
          checkpoints == NULL ? "not freed: 1 of lapse_operation"
                              : "not freed: 1 of lapse_operation, 1 of lapse_checkpoints");
  EXPECT(lapse_operation_done(p->left) == 1);
  CHECK(lapse_wait(p->left));
  lapse_checkpoints_free(checkpoints);
  CHECK(lapse_server_free(p->server));
}

static void refused_when_closed(const program* p) {
  uint64_t bytes = 0;
  REFUSED(lapse_table_memory_use(p->server, p->sums, &bytes), LAPSE_ERROR_CLOSED, "close");
}

/* --- jobs --- */

static int signal_to_oneself(lapse_worker* worker, void* context) {
  const lapse_job* const job = (const lapse_job*)context;
  int requested = 0;
  CHECK(lapse_barrier(worker));
  if (lapse_worker_index(worker) == lapse_worker_count(worker) - 1) EXPECT(raise(SIGUSR1) == 0);
  while (requested == 0) {
    CHECK(lapse_wait_all(worker));
    CHECK(lapse_job_stop_requested(job, &requested));
  }
  return 0;
}

/* An application thread's error ends the phase on every rank, also on one that attaches later. */
static void fail_attached(lapse_server* server) {
  lapse_worker* worker = NULL;
  const uint64_t beyond = 1000;
  int32_t rank = -1;
  int32_t ranks = 0;
  lapse_table_spec spec;
  lapse_table* table = NULL;
  lapse_table_spec_init(&spec);
  spec.name = "few";
  spec.keys = KEYS;
  CHECK(lapse_table_create(server, &spec, &table));
  CHECK(lapse_server_rank(server, &rank, &ranks));
  CHECK(lapse_start_progress(server, 1));
  if (rank == ranks - 1) {
    CHECK(lapse_attach(server, -1, &worker));
    REFUSED(lapse_localize(worker, table, &beyond, 1), LAPSE_ERROR_KEY, "1000");
    CHECK(lapse_detach_failed(worker, NULL));
  } else if (lapse_attach(server, -1, &worker) == LAPSE_OK) {
    REFUSED(lapse_barrier(worker), LAPSE_ERROR_PEER_FAILED, "key 1000 of table 'few'");
    CHECK(lapse_detach_failed(worker, "later"));
  }
  REFUSED(lapse_detach_failed(NULL, "none"), LAPSE_ERROR_USAGE, "worker is NULL");
  REFUSED(lapse_stop_progress(server), LAPSE_ERROR_PEER_FAILED, "key 1000 of table 'few'");
}

/* Uses a server of its own: requests to stop are never rolled back. */
static void control_job(void) {
  lapse_server* server = NULL;
  const int signals[1] = {SIGUSR1};
  lapse_job_options options;
  lapse_job* job = NULL;
  const char* reason = NULL;
  int answer = -1;
  lapse_job_options_init(&options);
  options.signals = signals;
  options.signal_count = 1;
  options.epochs = 2;
  CHECK(lapse_server_create(MPI_COMM_WORLD, NULL, 0, &server));
  CHECK(lapse_job_create(server, &options, &job));
  CHECK(lapse_job_need_checkpoint(job, 1, 0, &answer));
  EXPECT(answer == 0);
  CHECK(lapse_job_need_checkpoint(job, 2, 0, &answer));
  EXPECT(answer == 1);
  CHECK(lapse_job_begin_interval(job, 3, 0));
  CHECK(lapse_job_need_checkpoint(job, 4, 0, &answer));
  EXPECT(answer == 0);
  CHECK(lapse_job_checkpoint_due(job, &answer));
  EXPECT(answer == 0);
  CHECK(lapse_job_should_stop(job, &answer));
  EXPECT(answer == 0);
  CHECK(lapse_run_workers(server, 1, signal_to_oneself, job));
  CHECK(lapse_job_should_stop(job, &answer));
  CHECK(lapse_job_stop_reason(job, &reason));
  EXPECT(answer == 1 && strstr(reason, "SIGUSR1 on rank") == reason);
  lapse_job_free(job);
  lapse_job_free(NULL);
  options.size -= 8;
  REFUSED(lapse_job_create(server, &options, &job), LAPSE_ERROR_CONFIGURATION, "lapse_job_options_init");
  lapse_job_options_init(&options);
  options.deadline = -1;
  REFUSED(lapse_job_create(server, &options, &job), LAPSE_ERROR_CONFIGURATION, "deadline");
  REFUSED(lapse_job_create(server, NULL, NULL), LAPSE_ERROR_USAGE, "job is NULL");
  REFUSED(lapse_job_should_stop(NULL, &answer), LAPSE_ERROR_USAGE, "job is NULL");
  fail_attached(server);
  CHECK(lapse_server_close(server));
  CHECK(lapse_server_free(server));
}

/* All options of a sampler. */
static void make_samplers(program* p, const double* weights, lapse_sampler** samplers) {
  lapse_sampler_options options;
  const uint64_t seed = 7;
  lapse_sampler_options_init(&options);
  options.scheme = LAPSE_POOL;
  options.pool_keys = 8;
  options.pool_uses = 2;
  options.postpone = LAPSE_ON;
  options.seed = &seed;
  CHECK(lapse_sampler_create(p->server, p->sums, 20, 4, 0, weights, &options, &samplers[2]));
  CHECK(lapse_sampler_create(p->server, p->sums, 0, KEYS, 1, NULL, NULL, &samplers[0]));
  CHECK(lapse_sampler_create(p->server, p->sums, 0, KEYS, 0, NULL, NULL, &samplers[0]));
  REFUSED(lapse_sampler_create(p->server, p->sums, 0, 4, 1, weights, NULL, &samplers[0]), LAPSE_ERROR_USAGE,
          "log_uniform");
  options.postpone = (lapse_choice)9;
  REFUSED(lapse_sampler_create(p->server, p->sums, 0, 4, 0, NULL, &options, &samplers[0]),
          LAPSE_ERROR_CONFIGURATION, "postpone is 9");
}

/* --- checkpoints --- */

/* Keys of two tables, numbered consecutively. */
static void lease_tables(lapse_worker* worker, const program* p) {
  const uint64_t keys[3] = {30, 31, 32};
  const lapse_lease_part parts[2] = {{p->sums, keys, 2}, {p->means, keys, 3}};
  const lapse_lease_part twice[2] = {{p->sums, keys, 2}, {p->sums, keys, 3}};
  const double mean = 3;
  lapse_lease* lease = NULL;
  void* value = NULL;
  REFUSED(lapse_lease_tables(worker, twice, 2, &lease), LAPSE_ERROR_USAGE, "sums");
  REFUSED(lapse_lease_tables(worker, NULL, 2, &lease), LAPSE_ERROR_USAGE, "parts is NULL");
  CHECK(lapse_lease_tables(worker, parts, 2, &lease));
  CHECK(lapse_lease_value(lease, 1, &value, NULL, NULL, NULL));
  EXPECT(((float*)value)[0] == 5);
  CHECK(lapse_lease_value(lease, 2, &value, NULL, NULL, NULL));
  CHECK(lapse_lease_apply(lease, 2, &mean, 1, 1.0F));
  REFUSED(lapse_lease_value(lease, 5, &value, NULL, NULL, NULL), LAPSE_ERROR_USAGE, "5 keys");
  CHECK(lapse_lease_release(lease));
}

static void use_leases(lapse_worker* worker, const program* p) {
  const uint64_t keys[2] = {30, 31};
  const float update[LENGTH] = {1, 1, 1};
  lapse_lease* lease = NULL;
  void* value = NULL;
  size_t length = 0;
  CHECK(lapse_lease_keys(worker, p->sums, keys, 2, &lease));
  CHECK(lapse_lease_value(lease, 1, &value, &length, NULL, NULL));
  EXPECT(length == LENGTH);
  ((float*)value)[0] = 4;
  CHECK(lapse_lease_apply(lease, 1, update, LENGTH, 1.0F));
  EXPECT(((float*)value)[0] == 5);
  REFUSED(lapse_lease_value(lease, 2, &value, NULL, NULL, NULL), LAPSE_ERROR_USAGE, "2 keys");
  REFUSED(lapse_lease_apply(lease, 0, update, 1, 1.0F), LAPSE_ERROR_LENGTH, "sums");
  CHECK(lapse_lease_release(lease));
  if (lapse_worker_count(worker) == 1) lease_tables(worker, p);
}

#endif
