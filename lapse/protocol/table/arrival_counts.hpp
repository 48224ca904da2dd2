// The statistics of keys that have arrived.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "lapse/core/counter_values.hpp"

namespace lapse {

// Thread safety: one thread.
class ArrivalCounts {
 public:
  // `took`: from the request of the key to its arrival.
  void add(std::chrono::nanoseconds took) {
    ++keys_;
    sum_ += took;
    longest_ = std::max(longest_, took);
  }
  std::uint64_t keys() const { return keys_; }
  void count_in(TableCounters& counters) const {
    const auto number = [](std::chrono::nanoseconds time) {
      return static_cast<std::uint64_t>(time.count());
    };
    counters.relocations_in += keys_;
    counters.relocation_nanoseconds += number(sum_);
    counters.relocation_max_nanoseconds = std::max(counters.relocation_max_nanoseconds, number(longest_));
  }

 private:
  std::uint64_t keys_ = 0;
  std::chrono::nanoseconds sum_{0};
  std::chrono::nanoseconds longest_{0};
};

}  // namespace lapse
