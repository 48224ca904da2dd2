// Histories of counting: each worker adds 1 to an element of its own,
// so that a value says which pushes it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/store/element_type.hpp"
#include "test/support/history_violation.hpp"

namespace lapse::test {

// Of one value: how many pushes of each worker it holds, by worker.
using Counts = std::vector<std::int64_t>;

std::string to_string(const Counts& counts);

// A value has a block of `width` equal elements for each worker.
struct CounterLayout {
  std::size_t workers = 0;
  std::size_t width = 1;

  std::size_t length() const { return workers * width; }

  // What `worker` pushes.
  template <Element T>
  std::vector<T> unit(std::size_t worker) const {
    std::vector<T> value(length(), T{0});
    add_unit(worker, std::span<T>(value));
    return value;
  }
  // The same in place.
  template <Element T>
  void add_unit(std::size_t worker, std::span<T> value) const {
    for (T& element : value.subspan(worker * width, width)) element += T{1};
  }
  // Throws HistoryViolation when a block is not uniform: half of a push was seen.
  template <Element T>
  Counts counts(std::span<const T> value) const {
    Counts result;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const std::span<const T> block = value.subspan(worker * width, width);
      for (const T& element : block) {
        if (element != block.front()) throw HistoryViolation("a value holds a part of a push");
      }
      result.push_back(static_cast<std::int64_t>(block.front()));
    }
    return result;
  }
};

// What one worker pushed and saw. Checks on the way what concerns this worker alone: a pull holds exactly the
// worker's own pushes that were issued before it, whether they were waited for or not (I3).
class CounterLog {
 public:
  struct Pull {
    Key key;
    std::uint64_t position;  // in the worker's program
    Counts counts;
  };

  CounterLog(std::size_t worker, std::size_t workers, std::size_t keys);

  std::size_t worker() const { return worker_; }
  std::size_t keys() const { return pushes_.size(); }
  // So far, by this worker.
  std::int64_t pushes(Key key) const { return pushes_[key.index()]; }
  const std::vector<Pull>& pulls() const { return pulls_; }

  // A push has been issued.
  void pushed(Key key) { ++pushes_[key.index()]; }
  // A pull is issued now; returns its position, for pulled().
  std::uint64_t next_position() { return next_position_++; }
  // The pull at `position` has been answered. `own` are the worker's pushes when it was issued.
  // Throws HistoryViolation.
  void pulled(Key key, std::uint64_t position, std::int64_t own, Counts counts);

  // As numbers, to be sent somewhere.
  std::vector<std::int64_t> encode() const;
  static CounterLog decode(std::span<const std::int64_t> numbers);

 private:
  std::size_t worker_;
  std::size_t workers_;
  std::uint64_t next_position_ = 0;
  std::vector<std::int64_t> pushes_;  // by key
  std::vector<Pull> pulls_;           // in the order of their answers
};

// Values of one key seen by any worker, in any order. As every push takes effect once, at one place, any
// two of them are comparable element by element: they form a chain.
class CounterChain {
 public:
  // Throws HistoryViolation when `counts` is not comparable with a value added before.
  void add(const Counts& counts);

 private:
  std::map<std::int64_t, Counts> by_sum_;
};

// Checks what concerns all workers together: chains, each worker's pulls of a key rising in program order
// (I5), final values (by key) that are the sums of all pushes (I2) and no less than any pull. `logs` are
// those of all workers, in any order. Throws HistoryViolation.
void check_counters(std::span<const CounterLog> logs, std::span<const Counts> final_values);

}  // namespace lapse::test
