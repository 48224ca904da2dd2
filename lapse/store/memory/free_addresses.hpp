// An unused part of the process's address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <span>

namespace lapse {

// [begin, end)
struct AddressRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// `maps`: the contents of /proc/self/maps; `claimed`: ranges that the caller reserves, mapped or not, in any
// order. Returns the start of `bytes` free addresses outside all of them, aligned to huge pages; nullopt if
// they fit nowhere. Chooses the largest gap where they fit: next to a claimed range if it borders one,
// otherwise in the middle. So claimed ranges lie close together, far from the heap and from the kernel's
// placements, with at least half of `bytes` left free between them and other mappings.
std::optional<std::uintptr_t> find_free_addresses(std::istream& maps, std::span<const AddressRange> claimed,
                                                  std::size_t bytes);

}  // namespace lapse
