// Checks for memory before it is allocated.
#pragma once

#include <cstdint>
#include <string_view>

namespace lapse::apps {

// Throws OutOfMemory, naming `what`, if `bytes` exceed the rank's share of the available memory of its host,
// or its own limits: the system would grant the memory, and kill the process that uses it. `host_ranks` ranks
// of the host need as much at the same time.
void require_memory(std::string_view what, double bytes, std::int32_t host_ranks);

}  // namespace lapse::apps
