// Pages of memory.
#pragma once

#include <cstddef>
#include <functional>

namespace lapse {

// Thread safety: any thread.

// The size in which the system allocates memory.
std::size_t page_bytes();

// Populates mapped pages without changing their contents. Returns false, without a signal, if out of memory.
// `free_bytes` returns how much memory is left if the kernel cannot report it.
bool populate_pages(std::byte* begin, std::size_t bytes, const std::function<std::size_t()>& free_bytes);

// Returns whole pages of a file in memory to the system, for all processes that share it; they read as zero
// afterwards.
void release_pages(std::byte* begin, std::size_t bytes);

}  // namespace lapse
