// The times of a worker's iterations, and the loop over them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse::stage {

// Thread safety: the worker.
class LAPSE_EXPORT IterationTimes {
 public:
  using Clock = std::chrono::steady_clock;

  void begin() { last_ = Clock::now(); }
  void end_iteration() {
    const Clock::time_point now = Clock::now();
    seconds_.push_back(std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }
  // The median, without the first two, which fill caches and move parameters, if there are enough others.
  // 0 if no iteration was noted.
  double median_seconds() const;

 private:
  static constexpr std::size_t kFirst = 2;

  Clock::time_point last_;
  std::vector<double> seconds_;
};

// The iterations of a part of a stage, for a range-based loop, which measures them.
class IterationRange {
 public:
  class Iterator {
   public:
    Iterator(IterationTimes* times, std::uint64_t iteration) : times_(times), iteration_(iteration) {}
    std::uint64_t operator*() const { return iteration_; }
    Iterator& operator++() {
      times_->end_iteration();
      ++iteration_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return iteration_ != other.iteration_; }

   private:
    IterationTimes* times_;
    std::uint64_t iteration_;
  };

  IterationRange(IterationTimes& times, std::uint64_t first, std::uint64_t end)
      : times_(&times), first_(first), end_(end) {}

  std::uint64_t first() const { return first_; }
  std::uint64_t size() const { return end_ - first_; }
  Iterator begin() const {
    times_->begin();
    return {times_, first_};
  }
  Iterator end() const { return {times_, end_}; }

 private:
  IterationTimes* times_;
  std::uint64_t first_;
  std::uint64_t end_;
};

}  // namespace lapse::stage
