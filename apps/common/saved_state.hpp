// The state of a training as JSON, for checkpoints.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/common/measured_phase.hpp"

namespace lapse::apps {

using Json = nlohmann::json;

// The state of a training between two calls of run_workers.
struct SavedState {
  std::string global;                   // JSON, equal on all ranks
  std::vector<std::string> per_worker;  // JSON, for each worker of this rank; after loading: for all workers
};

Json to_json(const PhaseCost& cost);
// Throws what nlohmann::json throws for other JSON; missing fields are 0.
PhaseCost phase_cost(const Json& json);

// Throws ConfigurationError for invalid JSON.
Json parse_state(const std::string& text);
// Calls read(), which reads a state from JSON. Throws ConfigurationError if something is missing.
void read_state(const std::function<void()>& read);

}  // namespace lapse::apps
