// Results about the management of keys in a training.
#pragma once

#include <cstdint>

#include "adapm/parameter_manager.hpp"
#include "apps/common/measured_phase.hpp"
#include "apps/common/summary.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::apps {

// Adds the technique, where keys were accessed, the number and age of replicas, and how early or late intents
// were acted on. `total`: of the epochs. `statistics`: since the manager was created; only its intents are
// used.
void add_management(Summary& summary, adapm::Technique technique, const PhaseCost& total,
                    const adapm::Statistics& statistics, std::uint64_t epochs);

}  // namespace lapse::apps
