// How much memory this process may still take before the machine swaps or the kernel kills it.
#pragma once

#include <cstddef>

namespace lapse {

// Bytes: the smallest of what the machine has available (/proc/meminfo), what the control group still allows
// and what the process's own address-space limit leaves.
std::size_t available_memory_bytes();

}  // namespace lapse
