#include "lapse/ps/tables/shared_table_layout.hpp"

#include <algorithm>
#include <limits>

#include "lapse/directory/ownership_table.hpp"
#include "lapse/store/dirty_set.hpp"
#include "lapse/store/words/key_words.hpp"

namespace lapse {

namespace {

constexpr std::uint64_t round_up(std::uint64_t number, std::uint64_t unit) {
  return (number + unit - 1) / unit * unit;
}

std::size_t word_pages(const SharedTableLayout::Request& request) {
  return round_up(request.keys * sizeof(KeyWords::Word), SharedTableLayout::kPageBytes);
}

std::size_t owner_pages(const SharedTableLayout::Request& request) {
  return round_up(request.home_keys * sizeof(OwnershipTable::Entry) + sizeof(SharedTableLayout::Notified),
                  SharedTableLayout::kPageBytes);
}

std::uint64_t aligned_units(const SharedTableLayout::Request& request) {
  const std::uint64_t alignment = SharedTableLayout::unit_alignment(request.unit_bytes);
  std::uint64_t units = 0;
  for (const std::uint64_t requested : request.units) units += round_up(requested, alignment);
  return units;
}

// Slots that do not fit need no marks, but their number is not known yet.
std::uint64_t marked_units(const SharedTableLayout::Request& request) {
  return request.replicable ? aligned_units(request) : 0;
}

std::size_t dirty_pages(const SharedTableLayout::Request& request) {
  return round_up(DirtySet::bytes(marked_units(request)), SharedTableLayout::kPageBytes);
}

}  // namespace

std::size_t SharedTableLayout::min_bytes(const Request& request) {
  return word_pages(request) + owner_pages(request) + dirty_pages(request);
}

bool SharedTableLayout::is_possible(const Request& request) {
  // A slot word has 32 bits for the number of a slot.
  return aligned_units(request) <= std::numeric_limits<std::uint32_t>::max();
}

SharedTableLayout SharedTableLayout::plan(const Request& request, std::size_t max_bytes) {
  SharedTableLayout layout;
  layout.word_bytes = request.keys * sizeof(KeyWords::Word);
  layout.owners_offset = word_pages(request);
  layout.dirty_offset = layout.owners_offset + owner_pages(request);
  layout.dirty_units = marked_units(request);
  layout.slots_offset = min_bytes(request);
  const std::uint64_t alignment = unit_alignment(request.unit_bytes);
  const std::uint64_t requested = aligned_units(request);
  const std::uint64_t room = (max_bytes - layout.slots_offset) / request.unit_bytes;
  layout.complete = requested <= room;
  std::uint64_t next = 0;
  std::uint64_t next_private = 0;
  for (const std::uint64_t units : request.units) {
    Part part;
    part.first_unit = next;
    part.first_private_unit = next_private;
    part.private_units = units;
    part.units = units;
    if (!layout.complete) {
      const double share = static_cast<double>(units) / static_cast<double>(requested);
      const auto fits = static_cast<std::uint64_t>(share * static_cast<double>(room));
      part.units = std::min(units, fits / alignment * alignment);
    }
    next += round_up(part.units, alignment);
    next_private += round_up(units, alignment);
    layout.parts.push_back(part);
  }
  layout.slots_bytes = next * request.unit_bytes;
  return layout;
}

}  // namespace lapse
