#include "lapse/ps/trace/traced_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_set>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse {

namespace {

using Interval = KeySelection::Interval;

constexpr std::uint64_t kMaxRandomKeys = 10'000'000;

[[noreturn]] void refuse_selection(std::string_view text, std::string_view part, std::string_view problem) {
  throw ConfigurationError(
      fmt::format("option allocation_trace_keys cannot be '{}', because of '{}': {}", text, part, problem));
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    if (const std::string_view part = text.substr(0, end); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

struct TableKeys {
  std::string_view table;
  std::string_view keys;
};

std::vector<TableKeys> tables_in(std::string_view text) {
  std::vector<TableKeys> tables;
  for (const std::string_view part : parts_of(text, ';')) {
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == part.size())
      refuse_selection(text, part, "expected all, or table:keys;table:keys");
    tables.push_back({part.substr(0, colon), part.substr(colon + 1)});
  }
  if (tables.empty()) refuse_selection(text, text, "expected all, or table:keys;table:keys");
  return tables;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::optional<Interval> interval_in(std::string_view word) {
  const std::size_t dash = word.find('-');
  const auto first = number_in(word.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_in(word.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return Interval{*first, *last};
}

KeySelection random_keys(std::string_view text, std::string_view part, std::uint64_t keys) {
  const std::vector<std::string_view> words = parts_of(part, ' ');
  std::optional<std::uint64_t> count;
  std::uint64_t seed = 1;
  std::optional<Interval> from;
  if (keys > 0) from = Interval{0, keys - 1};
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string_view value = i + 1 < words.size() ? words[i + 1] : std::string_view();
    const auto number = number_in(value);
    const auto range = interval_in(value);
    if (words[i] == "random" && number && *number <= kMaxRandomKeys) {
      count = number;
    } else if (words[i] == "seed" && number) {
      seed = *number;
    } else if (words[i] == "range" && range) {
      from = range;
    } else {
      refuse_selection(text, part, "expected 'random N', 'seed S' or 'range A-B', N up to 10000000");
    }
  }
  if (!from) refuse_selection(text, part, "random keys of a sparse table need a range");
  if (keys > 0 && from->last >= keys)
    refuse_selection(text, part, fmt::format("the table has {} keys", keys));
  return KeySelection::random(count.value_or(0), seed, *from);
}

}  // namespace

KeySelection KeySelection::all() {
  KeySelection selection;
  selection.has_all_ = true;
  return selection;
}

KeySelection KeySelection::of(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::first);
  KeySelection selection;
  for (const Interval& next : intervals) {
    std::vector<Interval>& joined = selection.intervals_;
    if (!joined.empty() && next.first <= joined.back().last) {
      joined.back().last = std::max(joined.back().last, next.last);
    } else {
      joined.push_back(next);
    }
  }
  return selection;
}

KeySelection KeySelection::random(std::uint64_t count, std::uint64_t seed, Interval from) {
  const std::uint64_t less_one = from.last - from.first;
  if (count > less_one) return of({from});
  // Each step adds one key of a growing interval, and its new last key if the one drawn is there already; so
  // all sets are equally likely.
  RandomEngine engine(seed, 0);
  std::unordered_set<std::uint64_t> drawn;
  for (std::uint64_t last = less_one + 1 - count; drawn.size() < count; ++last)
    if (!drawn.insert(engine.below(last + 1)).second) drawn.insert(last);
  std::vector<Interval> intervals;
  intervals.reserve(drawn.size());
  for (const std::uint64_t key : drawn) intervals.push_back({from.first + key, from.first + key});
  return of(std::move(intervals));
}

bool KeySelection::contains(Key key) const {
  if (has_all_) return true;
  const auto after = std::ranges::upper_bound(intervals_, key.value(), {}, &Interval::first);
  return after != intervals_.begin() && key.value() <= std::prev(after)->last;
}

KeySelection traced_selection(std::string_view text, std::string_view table, std::uint64_t keys) {
  if (text == "all") return KeySelection::all();
  for (const TableKeys& part : tables_in(text)) {
    if (part.table != table) continue;
    if (part.keys == "all") return KeySelection::all();
    if (part.keys.starts_with("random")) return random_keys(text, part.keys, keys);
    std::vector<Interval> intervals;
    for (const std::string_view word : parts_of(part.keys, ',')) {
      const auto interval = interval_in(word);
      if (!interval) refuse_selection(text, word, "expected a key, or two of them as in 10-19");
      if (keys > 0 && interval->last >= keys)
        refuse_selection(text, word, fmt::format("table '{}' has {} keys", table, keys));
      intervals.push_back(*interval);
    }
    return KeySelection::of(std::move(intervals));
  }
  return {};
}

std::vector<std::string> traced_tables(std::string_view text) {
  std::vector<std::string> names;
  if (text == "all") return names;
  for (const TableKeys& part : tables_in(text)) names.emplace_back(part.table);
  return names;
}

}  // namespace lapse
