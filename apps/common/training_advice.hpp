// What a user wants to know of a training: how long it still takes, and whether more epochs would help.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lapse::apps {

// "45 s", "12 min", "3.2 h"
std::string duration_text(double seconds);

// Estimates the time that is left by the epochs so far. A training that resumes begins later than epoch 0.
class RemainingTime {
 public:
  // Begins now. `epochs`: that the training has at most.
  explicit RemainingTime(std::uint64_t epochs) : epochs_(epochs) {}

  // To follow the line about an epoch, from 1, which has just ended: "  12 min left"; empty if there is less
  // than a second.
  std::string after(std::uint64_t epoch);
  // The same, `seconds` after the beginning.
  std::string after(std::uint64_t epoch, double seconds);

 private:
  using Time = std::chrono::steady_clock;

  std::uint64_t epochs_;
  std::optional<std::uint64_t> before_;  // epochs before the first that was reported
  Time::time_point begin_ = Time::now();
};

// Whether a measure was still improving when the training ended: the last value is the best, and by more than
// a thousandth better than the one before. `measures`: by evaluation.
bool is_still_improving(std::span<const double> measures, bool larger_is_better);

// "the valid MRR was still improving in the last epochs: more may help (--epochs)", with a newline; empty if
// it was not.
std::string improvement_advice(const std::string& measure, std::span<const double> measures,
                               bool larger_is_better);

}  // namespace lapse::apps
