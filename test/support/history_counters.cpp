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
    if (before != nullptr && !log.rules().may_follow(*before, pull->counts)) {
      throw HistoryViolation(fmt::format("worker {} saw key {} as {} and then, by a later pull, as {}",
                                         log.worker(), pull->key.value(), to_string(*before),
                                         to_string(pull->counts)));
    }
    before = &pull->counts;
  }
}

// How many pushes of the log's worker a value of this epoch holds: at least and at most.
struct Bounds {
  std::int64_t lower;
  std::int64_t upper;
};
Bounds bounds(const CounterLog& log, Key key, std::int64_t epoch) {
  const CounterLog::Own& own = log.own(key);
  if (epoch == 0) return {own.pushes, own.pushes};
  if (log.resets(key) && epoch == own.resets)
    return {own.pushes - own.before_resets, own.pushes - own.before_resets};
  const auto& wiped = log.wiped(key);
  const auto above = wiped.upper_bound(epoch);
  if (above == wiped.begin()) return {0, own.pushes};
  // A reset also wipes what the previous reset wiped.
  const auto& [of, number] = *std::prev(above);
  return {of == epoch ? own.pushes - number : 0, own.pushes - number};
}

void check_final(std::span<const CounterLog> logs, Key key, const Counts& counts) {
  for (const CounterLog& log : logs) {
    const std::int64_t epoch = log.rules().epoch(counts);
    const std::int64_t pushes = log.pushes(key);
    const Bounds allowed = bounds(log, key, epoch);
    const std::int64_t seen = counts[log.worker()];
    if (seen < allowed.lower || seen > allowed.upper) {
      throw HistoryViolation(fmt::format(
          "worker {} pushed {} times to key {}; the final value holds {} of them, not {} to {}: {}",
          log.worker(), pushes, key.value(), seen, allowed.lower, allowed.upper, to_string(counts)));
    }
    if (log.resets(key) && epoch != log.own(key).resets) {
      throw HistoryViolation(fmt::format("worker {} reset key {} {} times; the final value is {}",
                                         log.worker(), key.value(), log.own(key).resets, to_string(counts)));
    }
  }
}

// Checks that a pull holds no more than each worker can have pushed, and that the final value may follow it.
void check_possible(std::span<const CounterLog> logs, const CounterLog& reader, const CounterLog::Pull& pull,
                    const Counts& final_value) {
  const std::int64_t epoch = reader.rules().epoch(pull.counts);
  const bool too_many = std::ranges::any_of(logs, [&](const CounterLog& log) {
    return pull.counts[log.worker()] > bounds(log, pull.key, epoch).upper;
  });
  if (too_many || !reader.rules().may_follow(pull.counts, final_value)) {
    throw HistoryViolation(fmt::format("worker {} saw key {} as {}, more than its final value {}",
                                       reader.worker(), pull.key.value(), to_string(pull.counts),
                                       to_string(final_value)));
  }
}

}  // namespace

std::string to_string(const Counts& counts) {
  return fmt::format("{}", counts);
}

bool CounterRules::may_follow(const Counts& earlier, const Counts& later) const {
  if (epoch(earlier) != epoch(later)) return epoch(earlier) < epoch(later);
  return holds_no_more(earlier, later);
}

CounterLog::CounterLog(std::size_t worker, std::size_t workers, std::size_t keys, const CounterRules& rules)
    : worker_(worker), workers_(workers), rules_(rules), own_(keys), wiped_(keys) {}

std::int64_t CounterLog::reset(Key key) {
  Own& own = own_[key.index()];
  own.before_resets = own.pushes;
  return ++own.resets;
}

void CounterLog::pulled(Key key, std::uint64_t position, const Own& own, Counts counts, Copy copy) {
  const bool exact = !rules_.resets || resets(key);
  const bool own_epoch = !resets(key) || counts.back() == own.resets;
  if (!own_epoch || (exact && counts[worker_] != own.pushes - own.before_resets)) {
    throw HistoryViolation(fmt::format(
        "worker {} pulled key {} after {} own pushes{} and saw {} of them: {}", worker_, key.value(),
        own.pushes,
        own.resets == 0 ? "" : fmt::format(" and reset {} behind {} of them", own.resets, own.before_resets),
        counts[worker_], to_string(counts)));
  }
  if (!exact) check_wiped(key, own, counts);
  pulls_.push_back({key, position, std::move(counts), copy});
}

void CounterLog::check_wiped(Key key, const Own& own, const Counts& counts) {
  std::map<std::int64_t, std::int64_t>& wiped = wiped_[key.index()];
  wiped.emplace(0, 0);
  const std::int64_t epoch = counts.back();
  const std::int64_t number = own.pushes - counts[worker_];
  const auto place = wiped.emplace(epoch, number).first;
  const auto next = std::next(place);
  const bool rising = (place == wiped.begin() || std::prev(place)->second <= number) &&
                      (next == wiped.end() || number <= next->second);
  if (place->second == number && rising && number <= own.pushes) return;
  std::string others;
  for (const auto& [other, of_other] : wiped) others += fmt::format(" {} by reset {}", of_other, other);
  throw HistoryViolation(fmt::format(
      "worker {} pulled key {} after {} own pushes and saw {}: reset {} would have wiped {} of them; wiped "
      "were, as its pulls show,{}",
      worker_, key.value(), own.pushes, to_string(counts), epoch, number, others));
}

std::vector<std::int64_t> CounterLog::encode() const {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(worker_), static_cast<std::int64_t>(workers_),
                                    static_cast<std::int64_t>(keys()), rules_.eventual ? 1 : 0,
                                    rules_.resets ? 1 : 0};
  for (std::size_t key = 0; key < keys(); ++key) {
    const Own& own = own_[key];
    numbers.insert(numbers.end(), {own.pushes, own.resets, own.before_resets,
                                   static_cast<std::int64_t>(wiped_[key].size())});
    for (const auto& [epoch, number] : wiped_[key]) numbers.insert(numbers.end(), {epoch, number});
  }
  for (const Pull& pull : pulls_) {
    numbers.push_back(static_cast<std::int64_t>(pull.key.value()));
    numbers.push_back(static_cast<std::int64_t>(pull.position));
    numbers.push_back(pull.copy == Copy::main ? 1 : 0);
    numbers.insert(numbers.end(), pull.counts.begin(), pull.counts.end());
  }
  return numbers;
}

CounterLog CounterLog::decode(std::span<const std::int64_t> numbers) {
  const auto workers = static_cast<std::size_t>(numbers[1]);
  const CounterRules rules{.eventual = numbers[3] != 0, .resets = numbers[4] != 0};
  CounterLog log(static_cast<std::size_t>(numbers[0]), workers, static_cast<std::size_t>(numbers[2]), rules);
  numbers = numbers.subspan(5);
  for (std::size_t key = 0; key < log.keys(); ++key) {
    log.own_[key] = {numbers[0], numbers[1], numbers[2]};
    const std::int64_t wiped = numbers[3];
    numbers = numbers.subspan(4);
    for (std::int64_t i = 0; i < wiped; ++i, numbers = numbers.subspan(2))
      log.wiped_[key].emplace(numbers[0], numbers[1]);
  }
  const std::size_t elements = rules.elements(workers);
  for (; !numbers.empty(); numbers = numbers.subspan(3 + elements)) {
    const std::span<const std::int64_t> counts = numbers.subspan(3, elements);
    log.pulls_.push_back({Key(static_cast<std::uint64_t>(numbers[0])), static_cast<std::uint64_t>(numbers[1]),
                          Counts(counts.begin(), counts.end()), numbers[2] != 0 ? Copy::main : Copy::any});
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
  // Comparing a value with its neighbours suffices. A value with the same sum must be equal.
  std::map<std::int64_t, Counts>& of_epoch = by_sum_[rules_.epoch(counts)];
  const std::int64_t pushes = sum(counts);
  const auto above = of_epoch.lower_bound(pushes);
  if (above != of_epoch.end()) compare(counts, above->second);
  if (above != of_epoch.begin()) compare(std::prev(above)->second, counts);
  of_epoch.emplace_hint(above, pushes, counts);
}

void check_counters(std::span<const CounterLog> logs, std::span<const Counts> final_values) {
  const CounterRules rules = logs.empty() ? CounterRules{} : logs.front().rules();
  std::vector<CounterChain> chains(final_values.size(), CounterChain(rules));
  for (std::size_t key = 0; key < final_values.size(); ++key) {
    check_final(logs, Key(key), final_values[key]);
    chains[key].add(final_values[key]);
  }
  for (const CounterLog& log : logs) {
    check_rising(log);
    for (const CounterLog::Pull& pull : log.pulls()) {
      const std::size_t key = pull.key.index();
      check_possible(logs, log, pull, final_values[key]);
      if (rules.eventual && pull.copy != Copy::main) continue;
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
