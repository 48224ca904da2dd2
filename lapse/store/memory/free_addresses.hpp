// A part of the process's address space that nothing uses.
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

// `maps`: the contents of /proc/self/maps; `claimed`: ranges that the caller keeps free of others, mapped
// or not, in any order. Returns the begin of a range of `bytes` addresses, at a boundary of huge pages, that
// is in none of them; nothing when it fits nowhere. It is in the largest gap where it fits: beside a claimed
// range, else in the middle. So claimed ranges lie close together, far from the heap and from what the
// kernel places; between them and other mappings at least half of `bytes` is left free.
std::optional<std::uintptr_t> find_free_addresses(std::istream& maps, std::span<const AddressRange> claimed,
                                                  std::size_t bytes);

}  // namespace lapse
