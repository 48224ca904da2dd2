// Parses the option allocation_trace_keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse {

// Keys of one table.
class KeySelection {
 public:
  static KeySelection all();
  // Intervals with both ends; they may overlap.
  struct Interval {
    std::uint64_t first;
    std::uint64_t last;
  };
  static KeySelection of(std::vector<Interval> intervals);
  // `count` distinct keys of an interval, by a seed; all of them if it has no more.
  static KeySelection random(std::uint64_t count, std::uint64_t seed, Interval from);

  bool has_all() const { return has_all_; }
  bool is_empty() const { return !has_all_ && intervals_.empty(); }
  bool contains(Key key) const;
  // Calls f(key) for the selected keys below an end, ascending.
  template <class F>
  void for_each(std::uint64_t end, F&& f) const {
    if (has_all_) {
      for (std::uint64_t key = 0; key < end; ++key) f(Key(key));
      return;
    }
    for (const Interval& interval : intervals_)
      for (std::uint64_t key = interval.first; key < end && key <= interval.last; ++key) f(Key(key));
  }

 private:
  bool has_all_ = false;
  std::vector<Interval> intervals_;  // ascending, without overlap
};

// `text`: "all", or "table:keys;table:keys". Keys: "all"; "1,5,10-19"; or "random 100", also with "seed 3"
// and "range 0-999". The name of a table ends at the last colon. `keys`: the table's number of keys, 0 for a
// sparse table. Throws ConfigurationError for malformed text, for keys that the table does not have, and for
// random keys of a sparse table without a range.
KeySelection traced_selection(std::string_view text, std::string_view table, std::uint64_t keys);

// The names of tables in the text; empty for "all". Throws ConfigurationError for malformed text.
std::vector<std::string> traced_tables(std::string_view text);

}  // namespace lapse
