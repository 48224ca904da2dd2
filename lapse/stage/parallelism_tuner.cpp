#include "lapse/stage/parallelism_tuner.hpp"

#include <algorithm>

namespace lapse::stage {

ParallelismTuner::ParallelismTuner(std::size_t max_workers, const Settings& settings)
    : max_workers_(std::max<std::size_t>(max_workers, 1)), settings_(settings) {
  if (max_workers_ == 1) phase_ = Phase::settled;
}

double ParallelismTuner::least() const {
  double least = measured_.begin()->second.seconds;
  for (const auto& [workers, measured] : measured_) least = std::min(least, measured.seconds);
  return least;
}

std::optional<std::size_t> ParallelismTuner::best() const {
  if (measured_.empty()) return std::nullopt;
  const double limit = least() * (1 + settings_.equal);
  for (const auto& [workers, measured] : measured_)
    if (measured.seconds <= limit) return workers;
  return std::nullopt;
}

bool ParallelismTuner::measures_again(const Measured& measured) const {
  const double lowest = least();
  return measured.times == 1 && measured.seconds > lowest * (1 + settings_.equal) &&
         measured.seconds <= lowest * (1 + settings_.unclear);
}

void ParallelismTuner::record(double seconds) {
  if (phase_ == Phase::settled) {
    if (settled_seconds_ <= 0) settled_seconds_ = seconds;
    const double limit = 1 + settings_.drift;
    const bool drifted = seconds > settled_seconds_ * limit || seconds * limit < settled_seconds_;
    drifted_ = drifted ? drifted_ + 1 : 0;
    if (drifted_ >= 2) search_anew();
    return;
  }
  const auto [entry, is_new] = measured_.try_emplace(workers_, Measured{.seconds = seconds, .times = 1});
  if (!is_new) {
    entry->second.seconds = std::min(entry->second.seconds, seconds);
    ++entry->second.times;
  }
  if (measures_again(entry->second)) return;
  if (phase_ == Phase::sides) return next_side();
  const bool falls = entry->second.seconds <= least() * (1 + settings_.equal);
  if (falls && workers_ < max_workers_) {
    workers_ = std::min(workers_ * 2, max_workers_);
    return;
  }
  const std::size_t center = *best();
  for (const std::size_t side : {center * 3 / 4, center * 3 / 2})
    if (side >= 1 && side <= max_workers_ && !measured_.contains(side)) sides_.push_back(side);
  phase_ = Phase::sides;
  next_side();
}

void ParallelismTuner::next_side() {
  if (sides_.empty()) return settle();
  workers_ = sides_.front();
  sides_.erase(sides_.begin());
}

void ParallelismTuner::settle() {
  phase_ = Phase::settled;
  workers_ = *best();
  settled_seconds_ = measured_.at(workers_).seconds;
  drifted_ = 0;
}

void ParallelismTuner::search_anew() {
  measured_.clear();
  sides_.clear();
  settled_seconds_ = 0;
  drifted_ = 0;
  if (max_workers_ == 1) return;
  workers_ = 1;
  phase_ = Phase::rising;
}

}  // namespace lapse::stage
