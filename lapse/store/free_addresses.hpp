// A part of the process's address space that nothing uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>

namespace lapse {

// `maps`: the contents of /proc/self/maps. Returns the begin of a range of `bytes` addresses, at a boundary
// of huge pages, in the middle of the largest gap between mappings; nothing when no gap is twice as large.
// Neither the heap nor mappings that the kernel places come near the middle of a gap that is larger than all
// the memory that the process may have.
std::optional<std::uintptr_t> find_free_addresses(std::istream& maps, std::size_t bytes);

}  // namespace lapse
