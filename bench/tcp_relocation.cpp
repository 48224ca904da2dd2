#include "bench/tcp_relocation.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/plain_move.hpp"
#include "bench/relocation_turns.hpp"
#include "bench/support/ping_pong.hpp"
#include "bench/support/server.hpp"

namespace lapse::bench {

namespace {

const std::vector<RelocationCase> kCases = {
    {.name = "tcp batch 1 waiting", .keys = 5'000, .turns = 2, .batch = 1},
    {.name = "tcp batch 10000 async", .keys = 50'000, .turns = 4, .batch = 10'000, .in_flight = 5},
    {.name = "tcp batch 10000 async 1 KB",
     .keys = 50'000,
     .turns = 2,
     .batch = 10'000,
     .in_flight = 5,
     .length = 256},
};

void add(Bench& bench, const RelocationCase& what, const Series& rates, std::size_t key_bytes) {
  const char* const baseline_name = what.batch > 1 ? "rows moved by hand" : "MPI ping-pong";
  bench.add({.name = what.name, .metric = "rate", .unit = "keys/s", .ranks = 2}, baseline_name, rates);
  if (what.batch == 1) return;
  Series bandwidths = rates;
  for (double& value : bandwidths.values) value *= static_cast<double>(key_bytes);
  for (double& baseline : bandwidths.baselines) baseline *= static_cast<double>(key_bytes);
  bench.add({.name = what.name, .metric = "bandwidth", .unit = "B/s", .ranks = 2}, baseline_name, bandwidths);
}

void measure_case(Bench& bench, RelocationTurns& turns, const RelocationCase& what) {
  const RelocationTurns::Keys keys = turns.prepare(what);
  const std::size_t count = keys.keys.size();
  const std::size_t key_bytes = kKeyBytes + what.length * sizeof(float);
  std::optional<PlainMove> plain_move;
  if (what.batch > 1) plain_move.emplace(bench.plain(), count, what.length);
  const auto plain_rate = [&] {
    if (plain_move) return moved_rate(*plain_move, what, keys);
    return static_cast<double>(count) / ping_pong(bench.plain(), count, {kKeyBytes, key_bytes});
  };
  Series rates;
  const std::size_t runs = bench.runs(kRelocationRuns);
  for (std::size_t run = 0; run < runs + 1; ++run) {
    const double value = turns.rate(what, keys);
    const double baseline = bench.baselines() ? plain_rate() : 0;
    if (run == 0) continue;  // To warm up.
    rates.values.push_back(value);
    if (bench.baselines()) rates.baselines.push_back(baseline);
  }
  add(bench, what, rates, key_bytes);
  turns.finish(keys);
}

}  // namespace

void measure_tcp_relocation(Bench& bench) {
  RelocationTurns turns(bench, quiet_options());
  for (const RelocationCase& what : kCases) {
    if (bench.selected(what.name)) measure_case(bench, turns, what);
  }
  turns.close();
}

}  // namespace lapse::bench
