#include "apps/knowledge_graph_embeddings/training_schedule.hpp"

#include <cmath>

namespace lapse::apps {

float TrainingSchedule::rate(std::uint64_t epoch) const {
  return static_cast<float>(state_.plateau_rate * std::pow(options_.rate_decay, static_cast<double>(epoch)));
}

bool TrainingSchedule::observe(double quality) {
  if (state_.best && quality <= *state_.best) {
    ++state_.failures;
    state_.plateau_rate *= options_.plateau_decay;
    return false;
  }
  state_.best = quality;
  state_.failures = 0;
  return true;
}

}  // namespace lapse::apps
