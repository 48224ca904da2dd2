// What the management of keys did in a training.
#pragma once

#include <cstdint>

#include "adapm/parameter_manager.hpp"
#include "apps/common/measured_phase.hpp"
#include "apps/common/summary.hpp"
#include "lapse/core/statistics.hpp"

namespace lapse::apps {

// Adds the technique, where keys were accessed, what copies there were and how old, how far ahead intents
// were acted on and how many too late. `total`: of the epochs; `statistics`: since the manager was made, of
// which the intents are taken.
void add_management(Summary& summary, adapm::Technique technique, const PhaseCost& total,
                    const adapm::Statistics& statistics, std::uint64_t epochs);

}  // namespace lapse::apps
