#include "lapse/ps/shared_table_layout.hpp"

#include <algorithm>
#include <limits>

#include "lapse/directory/ownership_table.hpp"
#include "lapse/store/key_words.hpp"

namespace lapse {

namespace {

constexpr std::uint64_t round_up(std::uint64_t number, std::uint64_t unit) {
  return (number + unit - 1) / unit * unit;
}

std::size_t words_of(const SharedTableLayout::Wish& wish) {
  return round_up(wish.keys * sizeof(KeyWords::Word), SharedTableLayout::kPageBytes);
}

std::size_t owners_of(const SharedTableLayout::Wish& wish) {
  return round_up(wish.home_keys * sizeof(OwnershipTable::Entry) + sizeof(SharedTableLayout::Notice),
                  SharedTableLayout::kPageBytes);
}

std::uint64_t aligned_units(const SharedTableLayout::Wish& wish) {
  const std::uint64_t alignment = SharedTableLayout::unit_alignment(wish.unit_bytes);
  std::uint64_t units = 0;
  for (const std::uint64_t wished : wish.units) units += round_up(wished, alignment);
  return units;
}

}  // namespace

std::size_t SharedTableLayout::least_bytes(const Wish& wish) {
  return words_of(wish) + owners_of(wish);
}

bool SharedTableLayout::is_possible(const Wish& wish) {
  // A word has 32 bits for the number of a slot.
  return aligned_units(wish) <= std::numeric_limits<std::uint32_t>::max();
}

SharedTableLayout SharedTableLayout::plan(const Wish& wish, std::size_t most_bytes) {
  SharedTableLayout layout;
  layout.words_bytes = wish.keys * sizeof(KeyWords::Word);
  layout.owners_offset = words_of(wish);
  layout.slots_offset = least_bytes(wish);
  const std::uint64_t alignment = unit_alignment(wish.unit_bytes);
  const std::uint64_t wished = aligned_units(wish);
  const std::uint64_t room = (most_bytes - layout.slots_offset) / wish.unit_bytes;
  layout.complete = wished <= room;
  std::uint64_t next = 0;
  std::uint64_t next_private = 0;
  for (const std::uint64_t units : wish.units) {
    Part part;
    part.first_unit = next;
    part.first_private_unit = next_private;
    part.private_units = units;
    part.units = units;
    if (!layout.complete) {
      const double share = static_cast<double>(units) / static_cast<double>(wished);
      const auto fits = static_cast<std::uint64_t>(share * static_cast<double>(room));
      part.units = std::min(units, fits / alignment * alignment);
    }
    next += round_up(part.units, alignment);
    next_private += round_up(units, alignment);
    layout.parts.push_back(part);
  }
  layout.slots_bytes = next * wish.unit_bytes;
  return layout;
}

}  // namespace lapse
