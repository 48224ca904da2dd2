// How much memory this process may still take before the machine swaps or the kernel kills it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lapse {

struct AvailableMemory {
  std::size_t bytes;
  std::string_view bound;  // the limiting resource, for messages

  // "<bound> leaves <amount>", for errors.
  std::string to_text() const;
};

// The smallest of the machine's available memory (/proc/meminfo), what the control group still allows, and
// what the process's own address and data limits leave (ulimit -v, ulimit -d). `sharers` processes divide the
// machine's and the control group's memory; a process's limits are its own.
AvailableMemory available_memory(std::size_t sharers = 1);
std::size_t available_memory_bytes();
// Like available_memory, for memory that this process has already mapped, such as shared memory.
AvailableMemory available_for_mapped_memory(std::size_t sharers);
// Like available_memory, for private memory whose addresses the process has reserved.
AvailableMemory available_for_reserved_memory(std::size_t sharers = 1);
// The bytes that the process may still map.
AvailableMemory available_addresses();

// Whether each mapping counts against a limit (ulimit -v), even if unused.
bool addresses_are_limited();

}  // namespace lapse
