#include "lapse/store/free_addresses.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "lapse/store/region.hpp"

namespace lapse {

namespace {

// Addresses of less than 32 bits are wanted by code that cannot have others.
constexpr std::uint64_t kLowest = std::uint64_t{1} << 36;
// The kernel's own pages, which are mapped into every process, are above.
constexpr std::uint64_t kHighest = std::uint64_t{1} << 47;

}  // namespace

std::optional<std::uintptr_t> find_free_addresses(std::istream& maps, std::size_t bytes) {
  std::uint64_t gap_begin = kLowest;
  std::uint64_t largest_begin = 0;
  std::uint64_t largest = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  char dash = 0;
  // Lines are `begin-end permissions ...`, by ascending address.
  while (maps >> std::hex >> begin >> dash >> end && begin < kHighest) {
    if (begin > gap_begin && begin - gap_begin > largest) {
      largest_begin = gap_begin;
      largest = begin - gap_begin;
    }
    gap_begin = std::max(gap_begin, end);
    maps.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  if (largest < 4 * kHugePageBytes || largest / 2 < bytes) return std::nullopt;
  const std::uint64_t middle = largest_begin + (largest - bytes) / 2;
  return middle / kHugePageBytes * kHugePageBytes;
}

}  // namespace lapse
