// Replicas on ranks that can hardly share memory, and on ranks of which one is killed.
#pragma once

#include <mpi.h>

namespace lapse::test {

// All ranks announce all keys of a table. Its values fit into /dev/shm; with their replicas they do not.
// Prints the number of replicas.
void copies_in_little_memory();

// Rank 1 is killed while rounds run.
void killed_in_rounds();

}  // namespace lapse::test
