// Histories of counters. Each worker adds 1 to an element of its own, so that a value shows which pushes it
// holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/store/values/element_type.hpp"
#include "test/support/history_violation.hpp"

namespace lapse::test {

// One value: how many pushes of each worker it holds, by worker. With CounterRules::resets, one more element:
// the number of the last reset that it holds.
using Counts = std::vector<std::int64_t>;

std::string to_string(const Counts& counts);

// The guarantees of a table of counters.
struct CounterRules {
  // Replicas may be read: each of two pulls may lack pushes that the other holds. I5 still holds for each
  // worker alone, and every guarantee for the main copy still holds.
  bool eventual = false;
  // Each key has one worker, its *setter*, that sometimes resets it: sets all counts to 0, and one more
  // element to the number of the reset, counted from 1. A reset *wipes* the pushes that reach the main copy
  // before it. Pushes to a replica may be counted after a reset that was issued later than they were.
  bool resets = false;

  std::size_t elements(std::size_t workers) const { return workers + (resets ? 1 : 0); }
  std::size_t setter(Key key, std::size_t workers) const { return key.index() % workers; }
  std::int64_t epoch(const Counts& counts) const { return resets ? counts.back() : 0; }
  // Whether a replica or main copy with the value `earlier` may later have the value `later`.
  bool may_follow(const Counts& earlier, const Counts& later) const;
};

// Which copy of a value a worker has read: unknown, or certainly the main copy.
enum class Copy { any, main };

// A value has a block of `width` equal elements for each worker, and one more block with
// CounterRules::resets.
struct CounterLayout {
  std::size_t workers = 0;  // blocks
  std::size_t width = 1;

  std::size_t length() const { return workers * width; }

  // The update that `worker` pushes.
  template <Element T>
  std::vector<T> unit(std::size_t worker) const {
    std::vector<T> value(length(), T{0});
    add_unit(worker, std::span<T>(value));
    return value;
  }
  // Adds the update in place.
  template <Element T>
  void add_unit(std::size_t worker, std::span<T> value) const {
    for (T& element : value.subspan(worker * width, width)) element += T{1};
  }
  // Throws HistoryViolation if a block is not uniform: then half of a push was read.
  template <Element T>
  Counts counts(std::span<const T> value) const {
    Counts result;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const std::span<const T> block = value.subspan(worker * width, width);
      for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] == block.front()) continue;
        throw HistoryViolation("a value holds a part of a push: worker " + std::to_string(worker) + "'s " +
                               std::to_string(width) + " elements begin with " +
                               std::to_string(block.front()) + ", and number " + std::to_string(i) + " is " +
                               std::to_string(block[i]) + ", the last " + std::to_string(block.back()));
      }
      result.push_back(static_cast<std::int64_t>(block.front()));
    }
    return result;
  }
};

// Records what one worker pushed and pulled. Checks what concerns this worker alone: a pull holds exactly the
// worker's own pushes that were issued before it, waited for or not (I3), except those wiped by the reset
// that the value shows. All pulls that show a reset agree on how many pushes it wiped.
class CounterLog {
 public:
  struct Pull {
    Key key;
    std::uint64_t position;  // in the worker's program order
    Counts counts;
    Copy copy = Copy::any;
  };
  // What this worker has done to a key until now.
  struct Own {
    std::int64_t pushes = 0;
    std::int64_t resets = 0;         // issued by the setter
    std::int64_t before_resets = 0;  // pushes before the last reset
  };

  CounterLog(std::size_t worker, std::size_t workers, std::size_t keys, const CounterRules& rules = {});

  std::size_t worker() const { return worker_; }
  std::size_t keys() const { return own_.size(); }
  const CounterRules& rules() const { return rules_; }
  bool resets(Key key) const { return rules_.resets && rules_.setter(key, workers_) == worker_; }
  const Own& own(Key key) const { return own_[key.index()]; }
  std::int64_t pushes(Key key) const { return own(key).pushes; }
  const std::vector<Pull>& pulls() const { return pulls_; }

  // Records a push that has been issued.
  void pushed(Key key) { ++own_[key.index()].pushes; }
  // Records a reset that the setter issues now. Returns its number.
  std::int64_t reset(Key key);
  // Records a pull that is issued now. Returns its position, for pulled().
  std::uint64_t next_position() { return next_position_++; }
  // Records the answer of the pull at `position`. `own`: own(key) when it was issued. Throws
  // HistoryViolation.
  void pulled(Key key, std::uint64_t position, const Own& own, Counts counts, Copy copy = Copy::any);
  // How many own pushes each reset of the key has wiped, by number of the reset. Resets that no pull showed
  // are missing.
  const std::map<std::int64_t, std::int64_t>& wiped(Key key) const { return wiped_[key.index()]; }

  // The log as numbers, to be sent to another rank.
  std::vector<std::int64_t> encode() const;
  static CounterLog decode(std::span<const std::int64_t> numbers);

 private:
  void check_wiped(Key key, const Own& own, const Counts& counts);

  std::size_t worker_;
  std::size_t workers_;
  CounterRules rules_;
  std::uint64_t next_position_ = 0;
  std::vector<Own> own_;                                     // by key
  std::vector<std::map<std::int64_t, std::int64_t>> wiped_;  // by key
  std::vector<Pull> pulls_;                                  // in the order of the answers
};

// Values of one copy of one key that workers have read, in any order. Every push takes effect once, at one
// copy; so any two values between two resets are comparable element by element: they form a chain.
class CounterChain {
 public:
  explicit CounterChain(const CounterRules& rules = {}) : rules_(rules) {}
  // Throws HistoryViolation if `counts` is not comparable with a value added before.
  void add(const Counts& counts);

 private:
  CounterRules rules_;
  std::map<std::int64_t, std::map<std::int64_t, Counts>> by_sum_;  // by epoch
};

// Checks what concerns all workers together: chains (in eventual tables, of values of the main copy), that
// each worker's pulls of a key rise in program order (I5), and that final values (by key) hold all pushes
// except the wiped ones (I2), and no less than any pull. `logs`: of all workers, in any order, with equal
// rules. Throws HistoryViolation.
void check_counters(std::span<const CounterLog> logs, std::span<const Counts> final_values);

}  // namespace lapse::test
