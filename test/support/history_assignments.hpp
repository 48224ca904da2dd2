// Histories of assigning: every written value is unique, so that a value says who wrote it, and when.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/types.hpp"
#include "test/support/history_violation.hpp"

namespace lapse::test {

// The value of a key: the `number`-th write of the key by a worker, or the initial value.
struct Assignment {
  std::int64_t writer = 0;  // 1 + the worker; 0: the initial value
  std::int64_t number = 0;  // from 1

  auto operator<=>(const Assignment&) const = default;

  // Values have the elements writer, number, writer + number; the last one shows values that are torn.
  static constexpr std::size_t kLength = 3;
  std::vector<std::int64_t> value() const { return {writer, number, writer + number}; }
  // Throws HistoryViolation when no worker wrote such a value.
  static Assignment from(std::span<const std::int64_t> value);
};

std::string to_string(const Assignment& assignment);

// What one worker wrote and saw, key by key in program order. Checks on the way that a worker that sees a
// value of its own sees the last one it had written before it asked (I3).
class AssignmentLog {
 public:
  AssignmentLog(std::size_t worker, std::size_t keys);

  std::size_t worker() const { return worker_; }
  std::size_t keys() const { return by_key_.size(); }

  // A write is issued now; returns what to write.
  Assignment write(Key key);
  // A read is issued now; returns its position among the events of the key, for end_read.
  std::size_t begin_read(Key key);
  // It has been answered. A read that is never answered counts for nothing. Throws HistoryViolation.
  void end_read(Key key, std::size_t position, Assignment seen);

  struct Event {
    bool is_write = false;
    bool answered = false;  // reads
    Assignment value;
  };
  const std::vector<Event>& events(Key key) const { return by_key_[key.index()].events; }
  std::int64_t writes(Key key) const { return by_key_[key.index()].writes; }

  // As numbers, to be sent somewhere.
  std::vector<std::int64_t> encode() const;
  static AssignmentLog decode(std::span<const std::int64_t> numbers);

 private:
  struct OfKey {
    std::int64_t writes = 0;
    std::vector<Event> events;
  };

  std::size_t worker_;
  std::vector<OfKey> by_key_;
};

// Checks that for each key there is one order of all writes, beginning with the initial value and ending with
// the final one, that agrees with the program order of every worker's writes and answered reads (I3). `logs`
// are those of all workers, in any order; `final_values` by key. Throws HistoryViolation.
void check_assignments(std::span<const AssignmentLog> logs, std::span<const Assignment> final_values);

}  // namespace lapse::test
