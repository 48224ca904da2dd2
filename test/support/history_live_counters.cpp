#include "test/support/history_live_counters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lapse::test {

LiveCounters::LiveCounters(std::size_t workers, std::size_t keys, const CounterRules& rules)
    : rules_(rules), workers_(workers), clocks_(workers) {
  const Counts none(workers, 0);
  const Counts initial(rules.elements(workers), 0);
  OfKey state{initial, initial, none, {}, {}, CounterChain(rules), {}, false};
  if (rules.eventual) state.of_worker.assign(workers, initial);
  state.wiped[0] = {none, none};
  keys_.assign(keys, state);
}

void LiveCounters::push_answered(std::size_t worker, Key key, std::int64_t number, Copy copy) {
  if (!is_main(copy)) return;
  OfKey& state = of(key);
  state.merged[worker] = std::max(state.merged[worker], number);
  if (!rules_.resets) state.floor[worker] = std::max(state.floor[worker], number);
}

void LiveCounters::reset_issued(Key key, std::int64_t number) {
  OfKey& state = of(key);
  state.issued.back() = number;
  state.wiped[number].lower = state.merged;
}

void LiveCounters::reset_answered(Key key, std::int64_t number) {
  OfKey& state = of(key);
  state.wiped[number].upper.assign(state.issued.begin(),
                                   state.issued.begin() + static_cast<std::ptrdiff_t>(workers_));
  Counts reset(workers_ + 1, 0);
  reset.back() = number;
  raise(state.floor, reset);
}

LiveCounters::Floor LiveCounters::floor(std::size_t worker, Key key, Copy copy) const {
  const OfKey& state = keys_[key.index()];
  Floor floor;
  if (is_main(copy)) {
    floor.counts = state.floor;
    if (rules_.resets) floor.merged = state.merged;
  } else {
    floor.counts.assign(state.issued.size(), 0);
  }
  if (rules_.eventual) raise(floor.counts, state.of_worker[worker]);
  if (clock_bound_) raise_to_clock(worker, key, floor);
  return floor;
}

void LiveCounters::advanced(std::size_t worker) {
  auto& issued = clocks_[worker].issued.emplace_back();
  for (const OfKey& state : keys_) issued.push_back(state.issued[worker]);
}

void LiveCounters::joined(std::size_t worker, std::int64_t clock) {
  clocks_[worker].is_absent = false;
  clocks_[worker].issued.assign(static_cast<std::size_t>(clock), std::vector<std::int64_t>(keys_.size()));
}

void LiveCounters::raise_to_clock(std::size_t worker, Key key, Floor& floor) const {
  const std::size_t clock = clocks_[worker].issued.size();
  if (clock <= *clock_bound_) return;
  const std::size_t needed = clock - *clock_bound_;
  for (std::size_t other = 0; other < workers_; ++other) {
    const ClockOf& of_other = clocks_[other];
    if (other == worker || other % groups_ != worker % groups_ || of_other.is_absent) continue;
    std::int64_t issued = keys_[key.index()].issued[other];
    if (of_other.issued.size() >= needed) {
      issued = of_other.issued[needed - 1][key.index()];
    } else if (!of_other.ended) {
      floor.too_early = other;
      continue;
    }
    floor.counts[other] = std::max(floor.counts[other], issued);
  }
}

void LiveCounters::raise(Counts& floor, const Counts& counts) const {
  if (rules_.epoch(floor) > rules_.epoch(counts)) return;
  if (rules_.epoch(floor) < rules_.epoch(counts)) floor.assign(counts.size(), 0);
  std::ranges::transform(floor, counts, floor.begin(), [](auto a, auto b) { return std::max(a, b); });
}

void LiveCounters::check_issued(const OfKey& state, Key key, const Counts& counts) const {
  const std::int64_t epoch = rules_.epoch(counts);
  const auto wiped = state.wiped.find(epoch);
  bool too_many = wiped == state.wiped.end();
  for (std::size_t other = 0; !too_many && other < workers_; ++other)
    too_many = counts[other] > state.issued[other] - wiped->second.lower[other];
  if (!too_many) return;
  std::string less;
  if (wiped != state.wiped.end() && epoch > 0)
    less = fmt::format(", of which the reset has wiped at least {}", to_string(wiped->second.lower));
  throw HistoryViolation(fmt::format("key {} was seen as {}; only {} have been pushed{}", key.value(),
                                     to_string(counts), to_string(state.issued), less));
}

void LiveCounters::pull_answered(std::size_t worker, Key key, const Floor& floor, const Counts& counts,
                                 Copy copy) {
  OfKey& state = of(key);
  if (floor.too_early) {
    throw HistoryViolation(
        fmt::format("worker {} pulled key {} before worker {} had reached the clock that its "
                    "own clock, {}, asks for with staleness {}",
                    worker, key.value(), *floor.too_early, clocks_[worker].issued.size(), *clock_bound_));
  }
  if (!rules_.may_follow(floor.counts, counts)) {
    throw HistoryViolation(
        fmt::format("worker {} pulled key {} and saw {}; {} had been answered or seen before it asked",
                    worker, key.value(), to_string(counts), to_string(floor.counts)));
  }
  check_issued(state, key, counts);
  const Wiped& wiped = state.wiped[rules_.epoch(counts)];
  for (std::size_t other = 0; other < floor.merged.size() && !wiped.upper.empty(); ++other) {
    if (counts[other] >= floor.merged[other] - wiped.upper[other]) continue;
    throw HistoryViolation(
        fmt::format("worker {} pulled key {} and saw {}; {} had been answered before it asked, of which the "
                    "reset has wiped "
                    "at most {}",
                    worker, key.value(), to_string(counts), to_string(floor.merged), to_string(wiped.upper)));
  }
  if (rules_.eventual) raise(state.of_worker[worker], counts);
  if (!is_main(copy)) return;
  raise(state.floor, counts);
  for (std::size_t other = 0; other < workers_; ++other)
    state.merged[other] = std::max(state.merged[other], wiped.lower[other] + counts[other]);
  state.chain.add(counts);
}

void LiveCounters::lease_touched(Key key) {
  OfKey& state = of(key);
  // The next lease begins after the owner has handled the end of the last one.
  if (!state.before_lease || state.lease_over) state.before_lease = state.floor;
  state.lease_over = false;
}

void LiveCounters::lease_over(Key key, bool at_once) {
  OfKey& state = of(key);
  state.lease_over = true;
  if (at_once) state.before_lease.reset();
}

LiveCounters::Sync LiveCounters::sync_called(std::size_t worker) const {
  Sync sync{worker, {}, {}};
  for (const OfKey& state : keys_) {
    sync.pushes.push_back(state.issued[worker]);
    sync.main.push_back(state.before_lease.value_or(state.floor));
  }
  return sync;
}

void LiveCounters::synced(const Sync& sync, std::span<const std::size_t> domain) {
  for (std::size_t number = 0; number < keys_.size(); ++number) {
    push_answered(sync.worker, Key(number), sync.pushes[number], Copy::main);
    if (!rules_.eventual) continue;
    for (const std::size_t worker : domain) raise(keys_[number].of_worker[worker], sync.main[number]);
  }
}

void LiveCounters::check_final(Key key, const Counts& counts) const {
  const OfKey& state = keys_[key.index()];
  check_issued(state, key, counts);
  const Wiped& wiped = state.wiped.at(rules_.epoch(counts));
  if (wiped.upper.empty()) return;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    if (counts[worker] >= state.issued[worker] - wiped.upper[worker]) continue;
    throw HistoryViolation(fmt::format(
        "the final value of key {} is {}; {} were pushed, of which the last reset has wiped at most {}",
        key.value(), to_string(counts), to_string(state.issued), to_string(wiped.upper)));
  }
}

}  // namespace lapse::test
