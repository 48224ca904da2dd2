// Pages of memory.
#pragma once

#include <cstddef>
#include <functional>

namespace lapse {

// Thread safety: any thread.

// What the system gives and takes memory in.
std::size_t page_bytes();

// Makes pages that are mapped exist, without a change of what they contain; false, not a signal, when there
// is no memory for them. `free_bytes` returns how much memory is left where the kernel cannot report it.
bool populate_pages(std::byte* begin, std::size_t bytes, const std::function<std::size_t()>& free_bytes);

// Gives whole pages of a file in memory back to the system, for all processes that share it; they read as
// zero afterwards.
void release_pages(std::byte* begin, std::size_t bytes);

}  // namespace lapse
