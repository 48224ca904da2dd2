// Time of one access: 10,000 keys of 25 floats. Random keys are drawn in advance, the same sequence for the
// baseline. 20 runs of 100,000 accesses for each worker (remote, one key at a time: 20,000, computing 1,000).
//
//   case                            ranks  metric   baseline
//   local pull                        1    latency  copy of a row of an array of the same shape
//   local push                        1    latency  adding to a row of an array under a latch in the row
//   local pull 2 workers              1    latency  the same, two threads; each worker has half of the keys
//   local push 2 workers              1    latency  the same
//   local push 2 workers shared       1    latency  the same; both workers use all keys
//   sparse pull                       1    latency  the same call on a dense table
//   sparse push                       1    latency  the same
//   sparse pull batch 100             1    latency  the same
//   local pull batch 100              1    rate     copies of the same rows, one after the other
//   local pull SIZE KEYS batch N      1    latency  the same; also with "2 workers"
//   local push SIZE KEYS batch N      1    latency  adding to the rows under their latches; the same
//   remote pull, remote push          2    latency  MPI ping-pong of messages of the same payload
//   remote pull computing             2    latency  the same (its other side waits in MPI)
//   remote push computing             2    latency  the same
//   remote pull async                 2    rate     the same, 100 messages in flight at once
//   remote push async                 2    rate     the same
//   remote pull batch N               2    rate     exchange by hand: keys there, gathered rows back
//   remote push batch N               2    rate     the same: keys and rows there, added, empty message back
//   remote pull batch 100 async       2    rate     MPI messages of the same payload, 10 in flight at once
//   remote push batch 100 async       2    rate     the same
//   NAME async / waiting              2    rate     the same calls as in NAME async, each waited for
//   remote pull SIZE, push SIZE       2    latency  rows sent by hand, each a message from and to its place
//   all ranks pull batch 4000       2 to 4 rate     exchange by hand: MPI_Alltoallv of keys, then of rows
//   all ranks push batch 4000       2 to 4 rate     the same; rows are added on arrival
//   neighbour pull, neighbour push    2    latency  the same loop over keys that the rank serves itself
//   moved pull, moved push            3    latency  MPI ping-pong of messages of the same payload
//   moved pull no caches              3    latency  MPI messages in a triangle: request, request, answer
//   moved push no caches              3    latency  the same
//
// Local: one key per call, unless a batch is named. The keys of the sparse table exist and are spread over 64
// bits. Latency is wall time x workers / keys. SIZE: values of 4 B, 100 B, 1 KB, 4 KB, 40 KB (of the last
// 1,000 keys); KEYS: uniform, or Zipf with exponent 1.1; N: 1, 10, 100, 1000, 10000 keys in a call, up to 64
// MB; 2 workers with N = 1 and 100, both use all keys. 7 runs of 100,000 accesses or 64 MB of each worker.
//
// Remote (N: 10, 100, 1000, 10000; at most 300,000 accesses in a run): the home and owner of the keys is the
// other rank. Each call is waited for, except with "async". The other rank waits in a barrier, where it
// helps; with "computing", its worker computes instead, and its server progress thread handles the requests.
// SIZE: 1 KB, 4 KB, 40 KB, 400 KB, 4 MB, also with "batch 10"; 40 MB of keys, 40 MB or 5,000 accesses in a
// run; the time of a value. Moved: home, owner and requester are three ranks; location caches store the owner
// after the first access. In both groups, ranks share no memory. Neighbour: the ranks share memory (option
// domain=host); the other rank serves the keys, and waits in a barrier.
//
// All ranks: every rank requests keys drawn from all keys, 4,000 per call, and waits for each call; the rate
// is the sum over ranks. 100,000 keys, spread over the ranks; 40 calls of each rank in a run; ranks share no
// memory. The program runs these cases with any number of ranks.
//
// tcp: run if the two ranks are on different hosts, instead of the other cases.
//   tcp pull, tcp push, tcp pull batch 64      5,000 calls in a run; the time of a call; MPI ping-pong
//   tcp pull batch 100, tcp pull batch 1000    2,000 and 500 calls; the rate of keys; exchange by hand
//   tcp push batch 100                         2,000 calls; the same
//   tcp pull SIZE, tcp push SIZE               as remote pull SIZE
//   tcp pull batch 100 async                   5,000 calls, ten at once; the rate; as many MPI messages
//   tcp push batch 100 async                   the same
//   NAME async / waiting                       the same calls as in NAME async, each waited for
// Ten at once: each call is waited for before the tenth call after it.
#include "bench/all_ranks_access.hpp"
#include "bench/large_access.hpp"
#include "bench/local_access.hpp"
#include "bench/local_sizes.hpp"
#include "bench/moved_access.hpp"
#include "bench/neighbour_access.hpp"
#include "bench/remote_access.hpp"
#include "bench/sparse_access.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/hosts.hpp"
#include "bench/tcp_access.hpp"

namespace {

void measure(lapse::bench::Bench& bench) {
  using namespace lapse::bench;
  if (bench.ranks() == 1) {
    measure_local_access(bench);
    measure_sparse_access(bench);
    measure_local_sizes(bench);
    return;
  }
  if (on_different_hosts(bench.plain())) {
    measure_tcp_access(bench);
    measure_large_access(bench, "tcp");
    return;
  }
  if (bench.ranks() == 2) {
    measure_remote_access(bench);
    measure_large_access(bench, "remote");
    measure_neighbour_access(bench);
  }
  if (bench.ranks() == 3) measure_moved_access(bench);
  measure_all_ranks_access(bench);
}

}  // namespace

int main(int argc, char** argv) {
  return lapse::bench::run_benchmark(argc, argv, "Time of pulls and pushes, local and remote", measure);
}
