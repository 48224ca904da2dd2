/* A program in C that uses only the installation. */
#include <mpi.h>
#include <stdio.h>

#include "lapse/lapse.h"

static int add(lapse_worker* worker, void* table) {
  const uint64_t key = 3;
  const float one = 1;
  float sum = 0;
  if (lapse_push(worker, table, &key, 1, &one, 1) != LAPSE_OK || lapse_barrier(worker) != LAPSE_OK ||
      lapse_pull(worker, table, &key, 1, &sum, 1) != LAPSE_OK)
    return 1;
  return sum == (float)lapse_worker_count(worker) ? 0 : 2;
}

int main(int argc, char** argv) {
  lapse_server* server;
  lapse_table* table;
  lapse_table_spec spec;
  int provided;
  int failed;
  lapse_prepare_mpi();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  lapse_table_spec_init(&spec);
  spec.keys = 10;
  failed = lapse_manager_create(MPI_COMM_WORLD, NULL, 0, &server) != LAPSE_OK ||
           lapse_table_create(server, &spec, &table) != LAPSE_OK ||
           lapse_run_here(server, add, table) != LAPSE_OK || lapse_server_close(server) != LAPSE_OK ||
           lapse_server_free(server) != LAPSE_OK;
  if (failed) fprintf(stderr, "%s\n", lapse_last_error());
  MPI_Finalize();
  printf("C %s %s\n", lapse_version(NULL, NULL, NULL), failed ? "failed" : "works");
  return failed;
}
