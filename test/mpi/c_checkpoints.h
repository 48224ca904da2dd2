/* The checkpoint calls of c_program.c. */
#ifndef TEST_MPI_C_CHECKPOINTS_H
#define TEST_MPI_C_CHECKPOINTS_H

#include "test/mpi/c_functions.h"

/* Steps 4 and 5 exist. The result says that step 5 could not be loaded: it is kept beside the next step. */
static void load_as(lapse_checkpoints* checkpoints, const lapse_table* sums) {
  lapse_load_request request;
  lapse_table_load part;
  uint64_t step = 4;
  uint64_t loaded = 0;
  size_t problems = 7;
  const char* text = NULL;
  int only_local = -1;
  (void)sums;
  lapse_load_request_init(&request);
  request.step = &step;
  request.is_fallback = 1;
  CHECK(lapse_checkpoints_load_as(checkpoints, &request, &loaded, NULL, NULL));
  EXPECT(loaded == 4);
  CHECK(lapse_checkpoints_save(checkpoints, 6, NULL, 0));
  step = 5;
  CHECK(lapse_checkpoints_load_as(checkpoints, &request, &loaded, NULL, NULL));
  EXPECT(loaded == 5);
  CHECK(lapse_checkpoints_problem_count(checkpoints, &problems));
  EXPECT(problems == 0);
  REFUSED(lapse_checkpoints_problem(checkpoints, 0, &text), LAPSE_ERROR_USAGE, "that had 0");
  CHECK(lapse_checkpoints_only_local(checkpoints, &only_local));
  EXPECT(only_local == 0);

  lapse_table_load_init(&part, "sums");
  part.first_key = 10;
  part.last_key = 19;
  part.state = 0;
  request.tables = &part;
  request.table_count = 1;
  CHECK(lapse_checkpoints_load_as(checkpoints, &request, NULL, NULL, NULL));
  CHECK(lapse_checkpoints_load_grown(checkpoints, &request, NULL, NULL, NULL));
  part.table = "none";
  REFUSED(lapse_checkpoints_load_as(checkpoints, &request, NULL, NULL, NULL), LAPSE_ERROR_USAGE, "none");
  part.table = NULL;
  REFUSED(lapse_checkpoints_load_as(checkpoints, &request, NULL, NULL, NULL), LAPSE_ERROR_USAGE, "is NULL");
  part.size = 1;
  REFUSED(lapse_checkpoints_load_as(checkpoints, &request, NULL, NULL, NULL), LAPSE_ERROR_CONFIGURATION,
          "lapse_table_load_init");
  request.tables = NULL;
  REFUSED(lapse_checkpoints_load_as(checkpoints, &request, NULL, NULL, NULL), LAPSE_ERROR_USAGE, "tables is");
  request.size = 1;
  REFUSED(lapse_checkpoints_load_as(checkpoints, &request, NULL, NULL, NULL), LAPSE_ERROR_CONFIGURATION,
          "lapse_load_request_init");
  REFUSED(lapse_checkpoints_load_as(checkpoints, NULL, NULL, NULL, NULL), LAPSE_ERROR_USAGE, "request is");
  CHECK(lapse_checkpoints_release_memory(checkpoints));
  EXPECT(lapse_checkpoints_staged(checkpoints) == 1 && lapse_checkpoints_staged(NULL) == 0);
}

/* The bytes and clocks of every worker of all ranks are loaded. */
static void save_content(const program* p, lapse_checkpoints* checkpoints) {
  lapse_checkpoint_content content;
  int32_t rank = 0, ranks = 0;
  char own[2] = {'a', 'b'};
  int64_t clocks[2];
  size_t with_bytes = 9, with_clocks = 9, bytes = 0;
  const void* data = NULL;
  int64_t clock = 0;
  lapse_bytes per_worker[2] = {{own, 2}, {NULL, 0}};
  const lapse_bytes unreadable = {NULL, 1};
  CHECK(lapse_server_rank(p->server, &rank, &ranks));
  own[0] = (char)('a' + rank);
  clocks[0] = 10 * rank;
  clocks[1] = 10 * rank + 1;
  lapse_checkpoint_content_init(&content);
  content.blob.data = "all";
  content.blob.size = 3;
  content.per_worker = per_worker;
  content.per_worker_count = 2;
  content.clocks = clocks;
  content.clock_count = 2;
  CHECK(lapse_checkpoints_save_as(checkpoints, 7, &content, 0));
  CHECK(lapse_checkpoints_load(checkpoints, NULL, NULL, &data, &bytes));
  EXPECT(bytes == 3 && memcmp(data, "all", 3) == 0);
  CHECK(lapse_checkpoints_worker_count(checkpoints, &with_bytes, &with_clocks));
  EXPECT(with_bytes == 2 * (size_t)ranks && with_clocks == with_bytes);
  CHECK(lapse_checkpoints_worker_bytes(checkpoints, with_bytes - 2, &data, &bytes));
  EXPECT(bytes == 2 && ((const char*)data)[0] == 'a' + ranks - 1);
  CHECK(lapse_checkpoints_worker_bytes(checkpoints, 1, &data, &bytes));
  EXPECT(bytes == 0);
  CHECK(lapse_checkpoints_worker_clock(checkpoints, with_clocks - 1, &clock));
  EXPECT(clock == 10 * (ranks - 1) + 1);
  REFUSED(lapse_checkpoints_worker_bytes(checkpoints, with_bytes, &data, &bytes), LAPSE_ERROR_USAGE,
          "bytes of worker");
  content.size = 1;
  REFUSED(lapse_checkpoints_save_as(checkpoints, 8, &content, 0), LAPSE_ERROR_CONFIGURATION,
          "lapse_checkpoint_content_init");
  lapse_checkpoint_content_init(&content);
  content.per_worker = &unreadable;
  content.per_worker_count = 1;
  REFUSED(lapse_checkpoints_save_as(checkpoints, 8, &content, 0), LAPSE_ERROR_USAGE, "per_worker is NULL");
  content.per_worker_count = 0;
  content.clock_count = 1;
  REFUSED(lapse_checkpoints_save_as(checkpoints, 8, &content, 1), LAPSE_ERROR_USAGE, "clocks is NULL");
}

static void save_and_load(program* p) {
  lapse_checkpoints* checkpoints;
  uint64_t step = 0;
  const void* blob;
  size_t bytes = 0;
  CHECK(lapse_checkpoints_create(p->server, p->folder, NULL, 2, &checkpoints));
  CHECK(lapse_checkpoints_add(checkpoints, p->sums, NULL));
  CHECK(lapse_checkpoints_add(checkpoints, p->words, "other words"));
  CHECK(lapse_checkpoints_save(checkpoints, 4, "state", 5));
  CHECK(lapse_checkpoints_save_begin(checkpoints, 5, NULL, 0));
  CHECK(lapse_checkpoints_finish(checkpoints));
  EXPECT(lapse_checkpoints_done(checkpoints) == 1);
  CHECK(lapse_checkpoints_load(checkpoints, NULL, &step, &blob, &bytes));
  EXPECT(step == 5 && bytes == 0);
  step = 4;
  CHECK(lapse_checkpoints_load(checkpoints, &step, NULL, &blob, &bytes));
  EXPECT(bytes == 5 && memcmp(blob, "state", 5) == 0);
  load_as(checkpoints, p->sums);
  save_content(p, checkpoints);
  step = 99;
  REFUSED(lapse_checkpoints_load(checkpoints, &step, NULL, NULL, NULL), LAPSE_ERROR_CHECKPOINT, "99");
  lapse_checkpoints_free(checkpoints);
}

#endif
