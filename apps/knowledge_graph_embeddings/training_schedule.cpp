#include "apps/knowledge_graph_embeddings/training_schedule.hpp"

#include <cmath>

namespace lapse::apps {

float TrainingSchedule::rate(std::uint64_t epoch) const {
  return static_cast<float>(plateau_rate_ * std::pow(options_.rate_decay, static_cast<double>(epoch)));
}

bool TrainingSchedule::observe(double quality) {
  if (best_ && quality <= *best_) {
    ++failures_;
    plateau_rate_ *= options_.plateau_decay;
    return false;
  }
  best_ = quality;
  failures_ = 0;
  return true;
}

}  // namespace lapse::apps
