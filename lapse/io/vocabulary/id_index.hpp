// Maps a data file's ids to indices without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Numbers the different ids that occur, which may be any 64-bit numbers, from 0. Takes 16 to 24 bytes per id,
// whatever its value, and temporarily twice as much while growing. Used by one thread.
class LAPSE_EXPORT IdIndex {
 public:
  using Index = std::uint32_t;
  static constexpr std::size_t kMaxIds = 0xffffffff;

  // The index of the id; a new id gets the next one. Throws UsageError above kMaxIds.
  Index add(std::uint64_t id);

  // By index.
  const std::vector<std::uint64_t>& ids() const { return ids_; }
  std::size_t size() const { return ids_.size(); }

  // Renumbers the ids in ascending order, so that the indices depend only on the set of ids. Returns the new
  // index of each old one.
  std::vector<Index> sort();

 private:
  static constexpr Index kFree = 0xffffffff;

  // Index in slots_ of the id, or of the free slot where it belongs.
  std::size_t slot_of(std::uint64_t id) const;
  // Makes slots_ for all ids and as many more.
  void fill_slots();

  std::vector<std::uint64_t> ids_;
  std::vector<Index> slots_;  // hash table of indices, a power of two, at most three quarters in use
  Index last_ = 0;            // returned last: many files are sorted by one of their ids
};

}  // namespace lapse::io
