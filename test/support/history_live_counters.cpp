#include "test/support/history_live_counters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lapse::test {

LiveCounters::LiveCounters(std::size_t workers, std::size_t keys)
    : keys_(keys, OfKey{Counts(workers, 0), Counts(workers, 0), {}}) {}

void LiveCounters::push_answered(std::size_t worker, Key key, std::int64_t number) {
  std::int64_t& floor = of(key).floor[worker];
  floor = std::max(floor, number);
}

void LiveCounters::pull_answered(std::size_t worker, Key key, const Counts& floor, const Counts& counts) {
  OfKey& state = of(key);
  for (std::size_t other = 0; other < counts.size(); ++other) {
    if (counts[other] < floor[other]) {
      throw HistoryViolation(
          fmt::format("worker {} pulled key {} and saw {}; {} had been answered or seen before it "
                      "asked",
                      worker, key.value(), to_string(counts), to_string(floor)));
    }
    if (counts[other] > state.issued[other]) {
      throw HistoryViolation(fmt::format("worker {} pulled key {} and saw {}; only {} have been pushed",
                                         worker, key.value(), to_string(counts), to_string(state.issued)));
    }
    state.floor[other] = std::max(state.floor[other], counts[other]);
  }
  state.chain.add(counts);
}

}  // namespace lapse::test
