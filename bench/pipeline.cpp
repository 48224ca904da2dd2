// A program that hides latency: a worker computes 20 us on the values of each batch of 100 keys, while the
// values of later batches are on their way. 25 floats a key; 2,000 batches in a run; 20 runs.
//
//   case                   ranks  baseline: written by hand with MPI messages
//   remote AHEAD ahead       2    rows that stay: keys and updates there, rows back
//   relocation AHEAD ahead   2    rows that move: keys there, rows back, copied into the array
//
// AHEAD: 1, 4 or 16 batches are in flight while one is computed. "tcp" before the names: the ranks are on
// different hosts. Metrics of each case:
//
//   rate          keys/s
//   batches       batches/s
//   overhead      ns of a batch, beyond the computation alone in the same run (at least 1)
//   computation   ns of a batch, if the rank does nothing else; no baseline
//
// The work of a computation is chosen before each case; the speed of the machine may change meanwhile.
//
// Remote: rank 0 pulls random keys that rank 1 owns, AHEAD batches before it computes them, and pushes the
// updates of each batch without waiting for it; it waits for all at the end. Rank 1 waits in a barrier, where
// it helps. Relocation: in each of ten turns one rank localizes all 20,000 keys in random order, AHEAD
// batches before it pulls, computes and pushes them in its memory; the other waits in a barrier. Then they
// change roles; the time between turns is not counted. Ranks share no memory.
//
// The programs by hand keep as many batches in flight, with receives that are posted in advance, persistent
// requests, the updates of a batch and the keys of a later one in one message, and no answer to an update.
// The updates of all runs are compared with the number of batches.
#include "bench/pipeline_cases.hpp"
#include "bench/support/bench.hpp"

int main(int argc, char** argv) {
  return lapse::bench::run_benchmark(argc, argv, "Computation while values are on their way",
                                     &lapse::bench::measure_pipelines);
}
