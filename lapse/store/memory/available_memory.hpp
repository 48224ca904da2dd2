// How much memory this process may still take before the machine swaps or the kernel kills it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lapse {

struct AvailableMemory {
  std::size_t bytes;
  std::string_view bound;  // what leaves no more, for messages

  // "<bound> leaves <so much>", for errors.
  std::string to_text() const;
};

// The smallest of what the machine has available (/proc/meminfo), what the control group still allows, and
// what the process's own limits of addresses and data leave (ulimit -v, ulimit -d). `sharers` processes
// divide what the machine and the control group have; a process's limits are its own.
AvailableMemory available_memory(std::size_t sharers = 1);
std::size_t available_memory_bytes();
// As available_memory, for memory that this process has mapped already, such as memory that it shares.
AvailableMemory available_for_mapped_memory(std::size_t sharers);
// As available_memory, for private memory whose addresses the process has reserved.
AvailableMemory available_for_reserved_memory(std::size_t sharers = 1);
// What the process may still map.
AvailableMemory available_addresses();

// Whether each mapping counts against a limit (ulimit -v), also where it is not used.
bool addresses_are_limited();

}  // namespace lapse
