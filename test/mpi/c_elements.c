/* Calls in C11, which deduce the type of their values; part of the program in C99. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lapse/lapse.h"

int test_elements(lapse_worker* worker, const lapse_table* floats, size_t length);

/* Each call is refused before it changes the worker's table of floats. */
#define REFUSED(call, part)                                                        \
  do {                                                                             \
    if ((call) != LAPSE_ERROR_USAGE || strstr(lapse_last_error(), part) == NULL) { \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, lapse_last_error());   \
      return 1;                                                                    \
    }                                                                              \
  } while (0)
#define CHECK(call)                                                              \
  do {                                                                           \
    if ((call) != LAPSE_OK) {                                                    \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, lapse_last_error()); \
      return 1;                                                                  \
    }                                                                            \
  } while (0)

int test_elements(lapse_worker* worker, const lapse_table* floats, size_t length) {
  const uint64_t key = 1;
  const uint32_t index = 0;
  const uint32_t outside = (uint32_t)length;
  double* const doubles = calloc(length, sizeof *doubles);
  float* const values = calloc(length, sizeof *values);
  const int* const integers = calloc(length, sizeof *integers);
  short shorts[1] = {0};
  void* const untyped = values;
  lapse_operation* operation = NULL;
  lapse_lease* lease = NULL;
  int done = 0;
  REFUSED(lapse_pull(worker, floats, &key, 1, doubles, length),
          "'sums' has values of float, and a call has a pointer to double");
  REFUSED(lapse_push(worker, floats, &key, 1, integers, length), "a pointer to int32");
  REFUSED(lapse_set(worker, floats, &key, 1, shorts, length), "a type that no table has");
  REFUSED(lapse_pull_begin(worker, floats, &key, 1, doubles, length, &operation), "a pointer to double");
  REFUSED(lapse_push_begin(worker, floats, &key, 1, doubles, length, 1.0F, NULL), "a pointer to double");
  REFUSED(lapse_set_begin(worker, floats, &key, 1, (const long long*)integers, length, NULL),
          "a pointer to int64");
  REFUSED(lapse_pull_if_local(worker, floats, key, doubles, length, &done), "a pointer to double");
  REFUSED(lapse_pull_elements(worker, floats, &key, 1, &index, doubles, 1), "a pointer to double");
  REFUSED(lapse_push_elements(worker, floats, &key, 1, &index, integers, 1), "a pointer to int32");
  REFUSED(lapse_pull_elements_begin(worker, floats, &key, 1, &index, doubles, 1, &operation), "to double");
  REFUSED(lapse_push_elements_begin(worker, floats, &key, 1, &index, doubles, 1, 1.0F, NULL), "to double");
  REFUSED(lapse_push_elements(worker, floats, &key, 1, &outside, values, 1), "is out of range");
  CHECK(lapse_push_elements(worker, floats, &key, 1, &index, values, 1));
  CHECK(lapse_push_elements_begin(worker, floats, &key, 1, &index, values, 1, 1.0F, NULL));
  CHECK(
      lapse_pull_elements(worker, floats, (const uint64_t[]){1, 2}, 2, (const uint32_t[]){0, 0}, values, 2));
  CHECK(lapse_pull_elements_begin(worker, floats, &key, 1, &index, values, 1, &operation));
  CHECK(lapse_wait(operation));
  CHECK(lapse_pull(worker, floats, &key, 1, values, length));
  CHECK(lapse_pull(worker, floats, &key, 1, untyped, length));
  CHECK(lapse_push(worker, floats, &key, 0, NULL, 0));
  /* The commas of an array divide the arguments of a macro. */
  CHECK(lapse_localize(worker, floats, (const uint64_t[]){1, 2}, 2));
  CHECK(lapse_push(worker, floats, (const uint64_t[]){1, 2}, 0, (const float[]){0, 0, 0}, 0));
  CHECK(lapse_barrier(worker));
  if (lapse_worker_index(worker) == 0) {
    CHECK(lapse_lease_keys(worker, floats, &key, 1, &lease));
    REFUSED(lapse_lease_apply(lease, 0, doubles, length, 1.0F), "a pointer to double");
    CHECK(lapse_lease_release(lease));
  }
  CHECK(lapse_barrier(worker));
  free(doubles);
  free(values);
  free((void*)integers);
  return 0;
}
