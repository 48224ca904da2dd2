// Relocations per second: keys of 25 floats that move back and forth between ranks 0 and 1, in random order.
//
//   case                        ranks  keys of a run  baseline
//   batch 1 waiting               2         20,000    MPI messages carrying the same bytes: request, answer
//   batch 100 waiting             2        200,000    rows moved by hand: keys there, gathered rows back,
//                                                     copied into the array; both sides note the new owner
//   batch 10000 waiting           2        500,000    the same
//   batch 1 async                 2         20,000    MPI messages, a hundred requests in flight at once
//   batch 100 async               2        200,000    rows moved by hand, twenty requests in flight at once
//   batch 10000 async             2        500,000    the same, five requests in flight at once
//   three ranks batch 1 waiting   3         20,000    MPI messages in a triangle: request, request, answer
//   N ranks fighting batch B     2, 3, 4   see relocation_fights.hpp                          none
//   tcp batch 1 waiting           2         10,000    MPI messages carrying the same bytes: request, answer
//   tcp batch 10000 async         2        200,000    rows moved by hand, five requests in flight at once
//   tcp batch 10000 async 1 KB    2        100,000    the same; values of 256 floats
//
// One rank localizes all keys, batch by batch, while the other waits in a barrier, where it helps; then they
// change roles. "waiting": each batch is waited for before the next; "async": several batches are in flight
// before the first is waited for. The metric is the rate at which keys arrive while one rank localizes,
// without the time between turns. Homes are spread over both ranks; with three ranks all homes are at rank 2,
// which waits, so that home, owner and requester are different. 20 runs.
//
// tcp: run if the two ranks are on different hosts, instead of the other cases. The metric bandwidth is the
// rate times the bytes of a key and its value.
#include <optional>
#include <string>
#include <vector>

#include "bench/plain_move.hpp"
#include "bench/relocation_fights.hpp"
#include "bench/relocation_turns.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/hosts.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"
#include "bench/tcp_relocation.hpp"

namespace lapse::bench {

namespace {

const std::vector<RelocationCase> kCases = {
    {.name = "batch 1 waiting", .keys = 10'000, .turns = 2, .batch = 1},
    {.name = "batch 100 waiting", .keys = 10'000, .turns = 20, .batch = 100},
    {.name = "batch 10000 waiting", .keys = 50'000, .turns = 10, .batch = 10'000},
    {.name = "batch 1 async", .keys = 10'000, .turns = 2, .batch = 1, .in_flight = 100},
    {.name = "batch 100 async", .keys = 10'000, .turns = 20, .batch = 100, .in_flight = 20},
    {.name = "batch 10000 async", .keys = 50'000, .turns = 10, .batch = 10'000, .in_flight = 5},
    {.name = "three ranks batch 1 waiting", .ranks = 3, .keys = 10'000, .turns = 2, .batch = 1},
};

// Collective, for batches of one key. Returns the seconds for messages with the payload of one turn; only
// rank 0's count.
double plain_turn(const Bench& bench, const RelocationCase& what, std::size_t keys) {
  const MessagePair messages{kKeyBytes, kKeyBytes + kValueBytes};
  if (what.ranks == 3) return triangle(bench.plain(), keys, messages);
  if (what.in_flight == 1) return ping_pong(bench.plain(), keys, messages);
  double seconds = 0;
  for (std::size_t done = 0; done < keys; done += what.in_flight) {
    seconds += pipelined_ping_pong(bench.plain(), what.in_flight, messages);
  }
  return seconds;
}

void measure_case(Bench& bench, RelocationTurns& turns, const RelocationCase& what) {
  const RelocationTurns::Keys keys = turns.prepare(what);
  const std::size_t count = keys.keys.size();
  std::optional<PlainMove> plain_move;
  if (what.batch > 1) plain_move.emplace(bench.plain(), count, what.length);
  bench.measure(
      {.name = what.name,
       .metric = "rate",
       .unit = "keys/s",
       .ranks = what.ranks,
       .domain = domain_of(turns.options())},
      kRelocationRuns, [&] { return turns.rate(what, keys); },
      plain_move ? "rows moved by hand" : "MPI messages",
      [&] {
        return plain_move ? moved_rate(*plain_move, what, keys)
                          : static_cast<double>(count) / plain_turn(bench, what, count);
      });
  turns.finish(keys);
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Relocations per second", [](Bench& bench) {
    if (bench.ranks() == 2 && on_different_hosts(bench.plain())) return measure_tcp_relocation(bench);
    RelocationTurns turns(bench, separate_options());
    for (const RelocationCase& what : kCases) {
      if (what.ranks == bench.ranks() && bench.selected(what.name)) measure_case(bench, turns, what);
    }
    turns.close();
    measure_fights(bench);
  });
}
