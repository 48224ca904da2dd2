// Cost of samples, and effect of the sampling schemes on the distribution: 100,000 keys of 25 floats, drawn
// by the counts of a Zipf distribution (exponent 1) to the power of 0.75, in samples of 50 keys.
//
//   case                  ranks  metric           baseline
//   draw D                  1    latency          numbers drawn from a range
//   S in memory             1    latency          as many keys, drawn beforehand, pulled in calls of 50
//   S                       2    latency          likewise; half of the keys are of the other rank
//   S                       2    local            none   percentage of the keys pulled from memory
//   S                       2    distance         none   of one worker's keys, see below
//   S                       2    distance of all  none   of the keys of both workers together
//
// D: uniform, log-uniform, weights, weights distinct (50 at a time, without replacement); ns for each key
// that is drawn. S: the schemes naive, prelocalised, pool and local; naive distinct and local distinct:
// without replacement; local with data: with each sample an intent for 50 keys, drawn by the counts
// themselves, like those of a program's data. Keys are at their homes when a case begins.
//
// Latency of S: total ns for each key: a sample is prepared 200 clocks before it is pulled, waited for and
// finished, then the clock advances. Each rank has one worker and shares no memory. 7 runs of 2,000 samples,
// after 500 for warm-up.
//
// Distance: each worker draws 1,000,000 of 2,000 keys with such weights; half the sum of the differences
// between their shares and the probabilities, in percent. Independent draws have a distance, too: that of
// naive.
#include "bench/sampling_cases.hpp"
#include "bench/support/bench.hpp"

int main(int argc, char** argv) {
  return lapse::bench::run_benchmark(argc, argv, "Samples of keys by distribution",
                                     &lapse::bench::measure_sampling);
}
