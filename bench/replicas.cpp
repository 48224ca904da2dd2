// What copies of keys cost: to bring them up to date, to write to them, and to have them. 10,000 keys of 25
// floats at rank 0; every other rank holds copies of them all (technique full_replication); no memory is
// shared.
//
//   case                       ranks  metric   baseline
//   refresh N holders         2, 3, 4 latency  by hand: packed, sent to each holder, copied into its array
//   delta N holders           2, 3, 4 latency  by hand: packed and sent by each holder, added at rank 0; the
//                                              sums packed, sent to each holder, copied into its array
//   empty sync_barrier        2, 3, 4 latency  MPI_Barrier
//   local push to a copy         2    latency  the same pushes on own keys without copies
//   local push with copies       2    latency  the same; on keys of the own rank, of which there are copies
//   local pull of a copy         2    latency  as local push to a copy
//   ... batch 100                2    latency  100 keys in each call; the others: one
//   memory of a copy             2    memory   none
//   memory of a wanted key       2    memory   none
//   memory of an announced key   2    memory   none
//
// Refresh: rank 0 has pushed each key once, and nothing was sent; the time from there until a sync_barrier
// has ended, per key. Delta: every holder has pushed each key once. N holders: 1 holder, 2 holders, and 3.
// By hand the time ends with MPI_Barrier. 20 runs.
//
// Local: 100,000 random keys in a run, while no round is due; ns per key. What is to be sent is sent between
// runs.
//
// Memory: growth of the resident memory of a rank, in bytes; memory that was freed before does not grow it,
// so run such a case alone. A copy: of 1 million keys of 16 floats half are copied to either of 2 ranks; per
// copy, but for its two values (the copy, and the base that shows what has changed), with all that holder and
// owner note about it. A wanted key: a key that is here and wanted by an intent. An announced key: 100 keys
// in an intent that is not yet acted on.
#include "bench/replicas_access.hpp"
#include "bench/replicas_memory.hpp"
#include "bench/replicas_sync.hpp"
#include "bench/support/bench.hpp"

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Cost of copies of keys", [](Bench& bench) {
    measure_replica_sync(bench);
    if (bench.ranks() != 2) return;
    measure_replica_access(bench);
    measure_replica_memory(bench);
  });
}
