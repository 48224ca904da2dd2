// This process's listeners: the current hooks and the trace of regions.
#pragma once

#include <memory>
#include <string>

#include "lapse/core/hooks.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

class RegionTrace;

// Never null. Any thread.
std::shared_ptr<const Hooks> current_hooks();

// From now on writes this process's regions to a file in this folder (RegionTrace); to the existing one if a
// server of this process has already asked for the folder. Throws what RegionTrace throws.
std::shared_ptr<RegionTrace> begin_region_trace(const std::string& folder, Rank rank);

}  // namespace lapse
