#include "lapse/stage/parallelism_tuner.hpp"

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse::stage {

ParallelismTuner::ParallelismTuner(std::size_t max_workers, const Settings& settings)
    : max_workers_(std::max<std::size_t>(max_workers, 1)), settings_(settings) {
  if (max_workers_ == 1) state_.phase = Phase::settled;
}

ParallelismTuner::ParallelismTuner(std::size_t max_workers, State state) : ParallelismTuner(max_workers) {
  const auto is_possible = [&](std::size_t workers) { return workers >= 1 && workers <= max_workers_; };
  const bool sound =
      is_possible(state.workers) && std::ranges::all_of(state.sides, is_possible) &&
      std::ranges::all_of(state.measured, is_possible, [](const auto& one) { return one.first; });
  if (!sound) throw ProtocolError("what was found out about numbers of workers is damaged");
  state_ = std::move(state);
}

double ParallelismTuner::least() const {
  double least = state_.measured.begin()->second.seconds;
  for (const auto& [workers, measured] : state_.measured) least = std::min(least, measured.seconds);
  return least;
}

std::optional<std::size_t> ParallelismTuner::best() const {
  if (state_.measured.empty()) return std::nullopt;
  const double limit = least() * (1 + settings_.equal);
  for (const auto& [workers, measured] : state_.measured)
    if (measured.seconds <= limit) return workers;
  return std::nullopt;
}

bool ParallelismTuner::measures_again(const Measured& measured) const {
  const double lowest = least();
  return measured.times == 1 && measured.seconds > lowest * (1 + settings_.equal) &&
         measured.seconds <= lowest * (1 + settings_.unclear);
}

void ParallelismTuner::record(double seconds) {
  if (state_.phase == Phase::settled) {
    if (state_.settled_seconds <= 0) state_.settled_seconds = seconds;
    const double limit = 1 + settings_.drift;
    const bool drifted = seconds > state_.settled_seconds * limit || seconds * limit < state_.settled_seconds;
    state_.drifted = drifted ? state_.drifted + 1 : 0;
    if (state_.drifted >= 2) search_anew();
    return;
  }
  const auto [entry, is_new] =
      state_.measured.try_emplace(state_.workers, Measured{.seconds = seconds, .times = 1});
  if (!is_new) {
    entry->second.seconds = std::min(entry->second.seconds, seconds);
    ++entry->second.times;
  }
  if (measures_again(entry->second)) return;
  if (state_.phase == Phase::sides) return next_side();
  const bool falls = entry->second.seconds <= least() * (1 + settings_.equal);
  if (falls && state_.workers < max_workers_) {
    state_.workers = std::min(state_.workers * 2, max_workers_);
    return;
  }
  const std::size_t center = *best();
  for (const std::size_t side : {center * 3 / 4, center * 3 / 2})
    if (side >= 1 && side <= max_workers_ && !state_.measured.contains(side)) state_.sides.push_back(side);
  state_.phase = Phase::sides;
  next_side();
}

void ParallelismTuner::next_side() {
  if (state_.sides.empty()) return settle();
  state_.workers = state_.sides.front();
  state_.sides.erase(state_.sides.begin());
}

void ParallelismTuner::settle() {
  state_.phase = Phase::settled;
  state_.workers = *best();
  state_.settled_seconds = state_.measured.at(state_.workers).seconds;
  state_.drifted = 0;
}

void ParallelismTuner::search_anew() {
  state_.measured.clear();
  state_.sides.clear();
  state_.settled_seconds = 0;
  state_.drifted = 0;
  if (max_workers_ == 1) return;
  state_.workers = 1;
  state_.phase = Phase::rising;
}

}  // namespace lapse::stage
