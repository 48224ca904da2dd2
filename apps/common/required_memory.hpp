// Memory that is known to be needed before it is taken.
#pragma once

#include <cstdint>
#include <string_view>

namespace lapse::apps {

// Throws OutOfMemory, naming `what`, when a rank needs more than its share of the memory that its host has
// available, or than its own limits leave: the system grants more than there is, and kills the process that
// uses it. `host_ranks` ranks of the host need as much at the same time.
void require_memory(std::string_view what, double bytes, std::int32_t host_ranks);

}  // namespace lapse::apps
