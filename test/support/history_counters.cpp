#include "test/support/history_counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace lapse::test {

namespace {

std::int64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Element by element.
bool holds_no_more(const Counts& lower, const Counts& upper) {
  return std::ranges::equal(lower, upper, std::ranges::less_equal{});
}

void check_rising(const CounterLog& log) {
  std::vector<const CounterLog::Pull*> pulls;
  for (const CounterLog::Pull& pull : log.pulls()) pulls.push_back(&pull);
  std::ranges::stable_sort(pulls, {}, [](const CounterLog::Pull* pull) { return pull->position; });
  std::vector<const Counts*> last(log.keys(), nullptr);
  for (const CounterLog::Pull* pull : pulls) {
    const Counts*& before = last[pull->key.index()];
    if (before != nullptr && !holds_no_more(*before, pull->counts)) {
      throw HistoryViolation(fmt::format("worker {} saw key {} as {} and then, by a later pull, as {}",
                                         log.worker(), pull->key.value(), to_string(*before),
                                         to_string(pull->counts)));
    }
    before = &pull->counts;
  }
}

}  // namespace

std::string to_string(const Counts& counts) {
  return fmt::format("{}", counts);
}

CounterLog::CounterLog(std::size_t worker, std::size_t workers, std::size_t keys)
    : worker_(worker), workers_(workers), pushes_(keys, 0) {}

void CounterLog::pulled(Key key, std::uint64_t position, std::int64_t own, Counts counts) {
  if (counts[worker_] != own) {
    throw HistoryViolation(fmt::format("worker {} pulled key {} after {} own pushes and saw {} of them: {}",
                                       worker_, key.value(), own, counts[worker_], to_string(counts)));
  }
  pulls_.push_back({key, position, std::move(counts)});
}

std::vector<std::int64_t> CounterLog::encode() const {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(worker_), static_cast<std::int64_t>(workers_),
                                    static_cast<std::int64_t>(pushes_.size())};
  numbers.insert(numbers.end(), pushes_.begin(), pushes_.end());
  for (const Pull& pull : pulls_) {
    numbers.push_back(static_cast<std::int64_t>(pull.key.value()));
    numbers.push_back(static_cast<std::int64_t>(pull.position));
    numbers.insert(numbers.end(), pull.counts.begin(), pull.counts.end());
  }
  return numbers;
}

CounterLog CounterLog::decode(std::span<const std::int64_t> numbers) {
  const auto workers = static_cast<std::size_t>(numbers[1]);
  CounterLog log(static_cast<std::size_t>(numbers[0]), workers, static_cast<std::size_t>(numbers[2]));
  numbers = numbers.subspan(3);
  std::ranges::copy(numbers.first(log.keys()), log.pushes_.begin());
  numbers = numbers.subspan(log.keys());
  for (; !numbers.empty(); numbers = numbers.subspan(2 + workers)) {
    const std::span<const std::int64_t> counts = numbers.subspan(2, workers);
    log.pulls_.push_back({Key(static_cast<std::uint64_t>(numbers[0])), static_cast<std::uint64_t>(numbers[1]),
                          Counts(counts.begin(), counts.end())});
  }
  return log;
}

void CounterChain::add(const Counts& counts) {
  const auto compare = [](const Counts& lower, const Counts& upper) {
    if (!holds_no_more(lower, upper)) {
      throw HistoryViolation(
          fmt::format("{} and {} were seen of one key: no order of the pushes leads through both",
                      to_string(lower), to_string(upper)));
    }
  };
  // With its neighbours a value is comparable with all. One of the same sum must be the same.
  const std::int64_t pushes = sum(counts);
  const auto above = by_sum_.lower_bound(pushes);
  if (above != by_sum_.end()) compare(counts, above->second);
  if (above != by_sum_.begin()) compare(std::prev(above)->second, counts);
  by_sum_.emplace_hint(above, pushes, counts);
}

void check_counters(std::span<const CounterLog> logs, std::span<const Counts> final_values) {
  std::vector<CounterChain> chains(final_values.size());
  for (std::size_t key = 0; key < final_values.size(); ++key) {
    for (const CounterLog& log : logs) {
      const std::int64_t pushes = log.pushes(Key(key));
      if (final_values[key][log.worker()] != pushes) {
        throw HistoryViolation(fmt::format(
            "worker {} pushed {} times to key {}; the final value holds {} of them: {}", log.worker(), pushes,
            key, final_values[key][log.worker()], to_string(final_values[key])));
      }
    }
    chains[key].add(final_values[key]);
  }
  for (const CounterLog& log : logs) {
    check_rising(log);
    for (const CounterLog::Pull& pull : log.pulls()) {
      const std::size_t key = pull.key.index();
      if (!holds_no_more(pull.counts, final_values[key])) {
        throw HistoryViolation(fmt::format("worker {} saw key {} as {}, more than its final value {}",
                                           log.worker(), key, to_string(pull.counts),
                                           to_string(final_values[key])));
      }
      try {
        chains[key].add(pull.counts);
      } catch (const HistoryViolation& violation) {
        throw HistoryViolation(
            fmt::format("key {}, a pull of worker {}: {}", key, log.worker(), violation.what()));
      }
    }
  }
}

}  // namespace lapse::test
