// The cost of replicas: refreshing, writing, and memory. Rank 0 owns 10,000 keys of 25 floats; every other
// rank has replicas of all of them (technique full_replication); ranks share no memory.
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
// Refresh: rank 0 has pushed each key once, and nothing was sent; the time until the end of a sync_barrier,
// per key. Delta: every holder has pushed each key once. N holders: 1 holder, 2 holders, and 3. By hand, the
// time ends with MPI_Barrier. 20 runs.
//
// Local: 100,000 random keys in a run, while no round is due; ns per key. Changes are sent between runs.
//
// Memory: growth of a rank's resident memory, in bytes. Reused freed memory does not grow it, so run such a
// case alone. A copy: of 1 million keys of 16 floats, each of 2 ranks has replicas of half; bytes per
// replica, without its two values (the replica, and the base that shows changes), including all records at
// holder and owner. A wanted key: a local key wanted by an intent. An announced key: 100 keys in an intent
// not yet acted on.
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
