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
#include "lapse/store/values/element_type.hpp"
#include "test/support/history_violation.hpp"

namespace lapse::test {

// Of one value: how many pushes of each worker it holds, by worker; with CounterRules::resets a further
// element: the number of the last reset that it holds.
using Counts = std::vector<std::int64_t>;

std::string to_string(const Counts& counts);

// What a table of counters promises.
struct CounterRules {
  // Replicas may be read: each of two pulls may lack pushes that the other holds. What I5 says of each worker
  // alone stays, and so does all that is said of the main copy.
  bool eventual = false;
  // For each key one worker, its *setter*, resets the key now and then: it sets all counts to 0, and one more
  // element to the number of the reset, from 1. Pushes that reach the main copy before a reset are *wiped* by
  // it; those of a replica may be counted after a reset that is younger than they are.
  bool resets = false;

  std::size_t elements(std::size_t workers) const { return workers + (resets ? 1 : 0); }
  std::size_t setter(Key key, std::size_t workers) const { return key.index() % workers; }
  std::int64_t epoch(const Counts& counts) const { return resets ? counts.back() : 0; }
  // Whether a copy that was `earlier` may become `later`.
  bool may_follow(const Counts& earlier, const Counts& later) const;
};

// Which copy of a value a worker has seen: any, or the main copy for certain.
enum class Copy { any, main };

// A value has a block of `width` equal elements for each worker, and one for resets where there are resets.
struct CounterLayout {
  std::size_t workers = 0;  // blocks
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
// worker's own pushes that were issued before it, whether they were waited for or not (I3), less those that
// the reset wiped which it shows: all pulls that show a reset agree on how many the reset wiped.
class CounterLog {
 public:
  struct Pull {
    Key key;
    std::uint64_t position;  // in the worker's program
    Counts counts;
    Copy copy = Copy::any;
  };
  // What this worker has done to a key so far.
  struct Own {
    std::int64_t pushes = 0;
    std::int64_t resets = 0;         // by the setter
    std::int64_t before_resets = 0;  // pushes before the last of them
  };

  CounterLog(std::size_t worker, std::size_t workers, std::size_t keys, const CounterRules& rules = {});

  std::size_t worker() const { return worker_; }
  std::size_t keys() const { return own_.size(); }
  const CounterRules& rules() const { return rules_; }
  bool resets(Key key) const { return rules_.resets && rules_.setter(key, workers_) == worker_; }
  const Own& own(Key key) const { return own_[key.index()]; }
  std::int64_t pushes(Key key) const { return own(key).pushes; }
  const std::vector<Pull>& pulls() const { return pulls_; }

  // A push has been issued.
  void pushed(Key key) { ++own_[key.index()].pushes; }
  // A reset is issued now, by the setter; returns its number.
  std::int64_t reset(Key key);
  // A pull is issued now; returns its position, for pulled().
  std::uint64_t next_position() { return next_position_++; }
  // The pull at `position` has been answered. `own` is own(key) when it was issued. Throws HistoryViolation.
  void pulled(Key key, std::uint64_t position, const Own& own, Counts counts, Copy copy = Copy::any);
  // How many own pushes each reset of a key has wiped, as far as pulls have shown it; by number of the reset.
  const std::map<std::int64_t, std::int64_t>& wiped(Key key) const { return wiped_[key.index()]; }

  // As numbers, to be sent somewhere.
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
  std::vector<Pull> pulls_;                                  // in the order of their answers
};

// Values of one copy of one key seen by any worker, in any order. As every push takes effect once, at one
// place, any two values between two resets are comparable element by element: they form a chain.
class CounterChain {
 public:
  explicit CounterChain(const CounterRules& rules = {}) : rules_(rules) {}
  // Throws HistoryViolation when `counts` is not comparable with a value added before.
  void add(const Counts& counts);

 private:
  CounterRules rules_;
  std::map<std::int64_t, std::map<std::int64_t, Counts>> by_sum_;  // by epoch
};

// Checks what concerns all workers together: chains (in eventual tables of what was seen of the main copy),
// each worker's pulls of a key rising in program order (I5), final values (by key) that hold all pushes
// but the wiped ones (I2) and no less than any pull. `logs` are those of all workers, in any order, with the
// same rules. Throws HistoryViolation.
void check_counters(std::span<const CounterLog> logs, std::span<const Counts> final_values);

}  // namespace lapse::test
