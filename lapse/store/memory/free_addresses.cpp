#include "lapse/store/memory/free_addresses.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "lapse/store/memory/region.hpp"

namespace lapse {

namespace {

// Leave addresses below 2^36 to code that needs short addresses.
constexpr std::uint64_t kLowest = std::uint64_t{1} << 36;
// The kernel's own pages, mapped into every process, are above.
constexpr std::uint64_t kHighest = std::uint64_t{1} << 47;

struct UsedRange {
  std::uint64_t begin;
  std::uint64_t end;
  bool is_claimed;
};

// A gap between two used ranges, and whether those are claimed.
struct AddressGap {
  std::uint64_t begin;
  std::uint64_t end;
  bool is_after_claimed;
  bool is_before_claimed;

  std::uint64_t size() const { return end - begin; }

  std::uint64_t needed(std::uint64_t bytes) const {
    const auto others = static_cast<std::uint64_t>(!is_after_claimed) + (is_before_claimed ? 0 : 1);
    return bytes + others * (bytes / 2 + kHugePageBytes) + 2 * kHugePageBytes;
  }

  // Leaves space at either end of the gap for a page beside the range.
  std::uint64_t place(std::uint64_t bytes) const {
    const std::uint64_t wanted = is_after_claimed    ? begin + kHugePageBytes
                                 : is_before_claimed ? end - 1 - bytes
                                                     : begin + (size() - bytes) / 2;
    return wanted / kHugePageBytes * kHugePageBytes;
  }
};

// Lines are `begin-end permissions ...`.
std::vector<UsedRange> read_mappings(std::istream& maps) {
  std::vector<UsedRange> used;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  char dash = 0;
  while (maps >> std::hex >> begin >> dash >> end && begin < kHighest) {
    used.push_back({begin, end, false});
    maps.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return used;
}

}  // namespace

std::optional<std::uintptr_t> find_free_addresses(std::istream& maps, std::span<const AddressRange> claimed,
                                                  std::size_t bytes) {
  std::vector<UsedRange> used = read_mappings(maps);
  if (used.empty() || bytes >= kHighest) return std::nullopt;
  for (const AddressRange& range : claimed) used.push_back({range.begin, range.end, true});
  // A claimed range comes before the mappings in it.
  std::ranges::sort(used, [](const UsedRange& a, const UsedRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::optional<AddressGap> largest;
  UsedRange last{kLowest, kLowest, false};  // of those so far, the one with the greatest end
  for (const UsedRange& range : used) {
    if (range.begin > last.end) {
      const AddressGap gap{last.end, range.begin, last.is_claimed, range.is_claimed};
      if (gap.size() >= gap.needed(bytes) && (!largest || gap.size() > largest->size())) largest = gap;
    }
    if (range.end > last.end) last = range;
  }
  if (!largest) return std::nullopt;
  return largest->place(bytes);
}

}  // namespace lapse
