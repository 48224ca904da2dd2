#include "test/support/history_assignments.hpp"

#include <fmt/format.h>

#include <map>

namespace lapse::test {

namespace {

// The relation "value a was there before value b" of one key. Values are numbered.
class Precedence {
 public:
  std::size_t number_of(const Assignment& value) {
    const auto [place, is_new] = numbers_.emplace(value, values_.size());
    if (is_new) {
      values_.push_back(value);
      later_.emplace_back();
      earlier_.push_back(0);
    }
    return place->second;
  }
  void add(const Assignment& before, const Assignment& after) {
    if (before == after) return;
    const std::size_t from = number_of(before);
    const std::size_t to = number_of(after);
    later_[from].push_back(to);
    ++earlier_[to];
  }
  // Returns a value on a cycle, or after one, if there is a cycle.
  const Assignment* find_contradiction() {
    std::vector<std::size_t> free;
    for (std::size_t number = 0; number < values_.size(); ++number) {
      if (earlier_[number] == 0) free.push_back(number);
    }
    while (!free.empty()) {
      const std::size_t number = free.back();
      free.pop_back();
      for (const std::size_t next : later_[number]) {
        if (--earlier_[next] == 0) free.push_back(next);
      }
    }
    for (std::size_t number = 0; number < values_.size(); ++number) {
      if (earlier_[number] != 0) return &values_[number];
    }
    return nullptr;
  }

 private:
  std::map<Assignment, std::size_t> numbers_;
  std::vector<Assignment> values_;
  std::vector<std::vector<std::size_t>> later_;
  std::vector<std::size_t> earlier_;  // number of values that must precede this one
};

void check_key(std::span<const AssignmentLog> logs, Key key, const Assignment& final_value) {
  const Assignment initial;
  Precedence precedence;
  std::map<std::int64_t, std::int64_t> writes;
  for (const AssignmentLog& log : logs) writes[static_cast<std::int64_t>(log.worker()) + 1] = log.writes(key);
  const auto exists = [&](const Assignment& value) {
    return value == initial ||
           (value.number >= 1 && writes.contains(value.writer) && value.number <= writes[value.writer]);
  };
  for (const AssignmentLog& log : logs) {
    Assignment last = initial;
    for (const AssignmentLog::Event& event : log.events(key)) {
      if (!event.is_write && !event.answered) continue;
      if (!exists(event.value)) {
        throw HistoryViolation(fmt::format("worker {} saw {} in key {}, which no worker wrote", log.worker(),
                                           to_string(event.value), key.value()));
      }
      precedence.add(last, event.value);
      if (event.is_write) precedence.add(event.value, final_value);
      last = event.value;
    }
  }
  if (!exists(final_value)) {
    throw HistoryViolation(fmt::format("the final value of key {} is {}, which no worker wrote", key.value(),
                                       to_string(final_value)));
  }
  precedence.add(initial, final_value);
  if (const Assignment* value = precedence.find_contradiction()) {
    throw HistoryViolation(
        fmt::format("no order of the writes of key {} agrees with what the workers saw and with the final "
                    "value {}; {} would have "
                    "to come before itself, or after something that does",
                    key.value(), to_string(final_value), to_string(*value)));
  }
}

}  // namespace

Assignment Assignment::from(std::span<const std::int64_t> value) {
  const Assignment assignment{value[0], value[1]};
  if (value[2] != value[0] + value[1] || assignment.writer < 0 || assignment.number < 0) {
    throw HistoryViolation(
        fmt::format("({}, {}, {}) was seen, which no worker wrote", value[0], value[1], value[2]));
  }
  return assignment;
}

std::string to_string(const Assignment& assignment) {
  return assignment.writer == 0
             ? std::string("the initial value")
             : fmt::format("write {} of worker {}", assignment.number, assignment.writer - 1);
}

AssignmentLog::AssignmentLog(std::size_t worker, std::size_t keys) : worker_(worker), by_key_(keys) {}

Assignment AssignmentLog::write(Key key) {
  OfKey& of_key = by_key_[key.index()];
  const Assignment value{static_cast<std::int64_t>(worker_) + 1, ++of_key.writes};
  of_key.events.push_back({true, true, value});
  return value;
}

std::size_t AssignmentLog::begin_read(Key key) {
  OfKey& of_key = by_key_[key.index()];
  // Until the read is answered, the event stores the number of own writes before it.
  of_key.events.push_back({false, false, {0, of_key.writes}});
  return of_key.events.size() - 1;
}

void AssignmentLog::end_read(Key key, std::size_t position, Assignment seen) {
  Event& event = by_key_[key.index()].events[position];
  const std::int64_t own = event.value.number;
  const bool is_own = seen.writer == static_cast<std::int64_t>(worker_) + 1;
  if ((is_own && seen.number != own) || (seen.writer == 0 && own > 0)) {
    throw HistoryViolation(fmt::format("worker {} had written key {} {} times and saw {}", worker_,
                                       key.value(), own, to_string(seen)));
  }
  event.answered = true;
  event.value = seen;
}

std::vector<std::int64_t> AssignmentLog::encode() const {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(worker_)};
  for (const OfKey& of_key : by_key_) {
    numbers.push_back(of_key.writes);
    numbers.push_back(static_cast<std::int64_t>(of_key.events.size()));
    for (const Event& event : of_key.events) {
      numbers.push_back((event.is_write ? 2 : 0) + (event.answered ? 1 : 0));
      numbers.push_back(event.value.writer);
      numbers.push_back(event.value.number);
    }
  }
  return numbers;
}

AssignmentLog AssignmentLog::decode(std::span<const std::int64_t> numbers) {
  AssignmentLog log(static_cast<std::size_t>(numbers[0]), 0);
  numbers = numbers.subspan(1);
  while (!numbers.empty()) {
    OfKey of_key;
    of_key.writes = numbers[0];
    const auto events = static_cast<std::size_t>(numbers[1]);
    numbers = numbers.subspan(2);
    for (std::size_t i = 0; i < events; ++i, numbers = numbers.subspan(3)) {
      of_key.events.push_back({numbers[0] >= 2, numbers[0] % 2 == 1, {numbers[1], numbers[2]}});
    }
    log.by_key_.push_back(std::move(of_key));
  }
  return log;
}

void check_assignments(std::span<const AssignmentLog> logs, std::span<const Assignment> final_values) {
  for (std::size_t key = 0; key < final_values.size(); ++key) check_key(logs, Key(key), final_values[key]);
}

}  // namespace lapse::test
