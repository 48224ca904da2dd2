// Copies of values where ranks can hardly share memory, and where one of them dies.
#pragma once

#include <mpi.h>

namespace lapse::test {

// All ranks announce all keys of a table; its values fit into /dev/shm, with their copies they do not. Prints
// how many there were.
void copies_in_little_memory();

// Rank 1 is killed while rounds go on.
void killed_in_rounds();

}  // namespace lapse::test
