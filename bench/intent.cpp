// The loop of workers that announce their accesses, with the techniques that act on intents: a table of
// 100,000 keys of 25 floats, of which each worker pulls and pushes 100 per clock.
//
//   case                    ranks  keys of a clock are announced   technique
//   K ahead N                 2    N clocks before                 adaptive (AdaPM)
//   K ahead N immediate       2    N clocks before                 acts on them at once
//   K ahead N T               2    N clocks before                 relocation only, replication only, nups
//   K ahead N localize        2    localize, N clocks before       localize (Lapse)
//   K ahead 100 T             2    not used                        full replication, static partitioning
//   K no intent               2    never                           adaptive
//   tcp ...                   2    some of these between two hosts
//
// K: uniform, or zipf with exponent 1.1 and the frequent keys spread over the table. N: 0, 10, 100, 1000,
// 10000, 100000; 100 and 1000 for other techniques. Keys are drawn in advance; announcing them is part of the
// loop. Each rank has one worker (--workers) and shares no memory (unless LAPSE_DOMAIN is set); pulls are
// waited for at once, pushes only at the end. A run has as many clocks as take about 0.4 s, after a fifth of
// that for warm-up. The cases of a distribution run in turn: 7 runs of each. At the end all values are
// compared with the sums of the pushes.
//
//   metric            baseline
//   rate              the same loop without management, on keys of the worker's own rank; keys per second of
//                     a worker, a key that is pulled and pushed counts once
//   cpu               none   time of all threads, also while they wait, per key pulled and pushed
//   local             none   percentage of the keys that were accessed in memory of the own domain
//   local operations  none   the same of the calls: all their keys
//   bytes             none   that all ranks sent, per key pulled and pushed
//   relocations       none   of keys, per 1,000 keys pulled and pushed
//   copies            none   that were sent, per 1,000 keys pulled and pushed
//   round             none   clocks that a worker advances between two rounds of its rank
//   staleness         none   mean number of versions that replicas had missed at a refresh
//
// All metrics except rate, cpu and local include the warm-up.
#include "bench/intent_cases.hpp"
#include "bench/support/bench.hpp"

int main(int argc, char** argv) {
  return lapse::bench::run_benchmark(argc, argv, "Keys that are announced before they are accessed",
                                     &lapse::bench::measure_intent);
}
