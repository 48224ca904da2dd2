// Histories of assignments. Every written value is unique, so that a value shows which worker wrote it, and
// when.
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

// A key's value: the `number`-th write of the key by a worker, or the initial value.
struct Assignment {
  std::int64_t writer = 0;  // 1 + the worker; 0: the initial value
  std::int64_t number = 0;  // from 1

  auto operator<=>(const Assignment&) const = default;

  // A value has the elements writer, number, writer + number. The last one reveals torn values.
  static constexpr std::size_t kLength = 3;
  std::vector<std::int64_t> value() const { return {writer, number, writer + number}; }
  // Throws HistoryViolation if no worker wrote such a value.
  static Assignment from(std::span<const std::int64_t> value);
};

std::string to_string(const Assignment& assignment);

// Records what one worker wrote and read, by key in program order. Checks that a worker that reads a value of
// its own reads the last one that it had written before it asked (I3).
class AssignmentLog {
 public:
  AssignmentLog(std::size_t worker, std::size_t keys);

  std::size_t worker() const { return worker_; }
  std::size_t keys() const { return by_key_.size(); }

  // Records a write that is issued now. Returns the value to write.
  Assignment write(Key key);
  // Records a read that is issued now. Returns its position among the events of the key, for end_read.
  std::size_t begin_read(Key key);
  // Records the answer. Reads without an answer are ignored. Throws HistoryViolation.
  void end_read(Key key, std::size_t position, Assignment seen);

  struct Event {
    bool is_write = false;
    bool answered = false;  // reads
    Assignment value;
  };
  const std::vector<Event>& events(Key key) const { return by_key_[key.index()].events; }
  std::int64_t writes(Key key) const { return by_key_[key.index()].writes; }

  // The log as numbers, to be sent to another rank.
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

// Checks that each key has a total order of all its writes that begins with the initial value, ends with the
// final value, and agrees with the program order of every worker's writes and answered reads (I3). `logs`: of
// all workers, in any order. `final_values`: by key. Throws HistoryViolation.
void check_assignments(std::span<const AssignmentLog> logs, std::span<const Assignment> final_values);

}  // namespace lapse::test
