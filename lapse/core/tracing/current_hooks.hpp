// What listens to this process: the hooks that were set last, and the trace of regions.
#pragma once

#include <memory>
#include <string>

#include "lapse/core/hooks.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

class RegionTrace;

// Never null. Any thread.
std::shared_ptr<const Hooks> current_hooks();

// From now on regions of this process are written to a file in this folder (RegionTrace): the one that is
// there already, where a server of this process has asked for the same folder. Throws as RegionTrace.
std::shared_ptr<RegionTrace> begin_region_trace(const std::string& folder, Rank rank);

}  // namespace lapse
