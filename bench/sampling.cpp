// What samples cost, and what the schemes of sampling do to the distribution: 100,000 keys of 25 floats, drawn
// by the counts of a Zipf distribution (exponent 1) to the power of 0.75, in samples of 50 keys.
//
//   case                  ranks  metric   baseline
//   draw D                  1    latency  numbers drawn from a range, with nothing made of them
//   S in memory             1    latency  the same number of keys, drawn beforehand, pulled in calls of 50
//   S                       2    latency  likewise; half of the keys are of the other rank
//   S                       2    local    none   percentage of the keys that were pulled from memory
//   S                       2    distance none   between shares of keys and the distribution, see below
//
// D: uniform, log-uniform, weights, weights distinct (50 at a time, without replacement); ns for each key that
// is drawn. S: the schemes naive, prelocalised, pool and local, the first and the last also with the option
// distinct (without replacement) and all of them between ranks with Zipf weights as above.
//
// Latency of S: ns for each key, of everything: a sample is prepared 200 clocks before it is pulled, waited
// for and finished, then the clock is advanced. Each rank has one worker and shares no memory. 7 runs of 2,000
// samples, after 500 to warm up.
//
// Distance: of 2,000 keys with such weights, 1,000,000 keys are drawn by each worker; half the sum of the
// differences between their shares and the probabilities, in percent, at the worker of rank 0. Independent
// draws have one, too: compare with the scheme naive. Between two ranks the shares of both workers together
// are compared as well (metric `distance of all`).
#include "bench/sampling_cases.hpp"
#include "bench/support/bench.hpp"

int main(int argc, char** argv) {
  return lapse::bench::run_benchmark(argc, argv, "Samples of keys by distribution",
                                     &lapse::bench::measure_sampling);
}
