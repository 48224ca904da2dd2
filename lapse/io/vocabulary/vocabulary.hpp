// Maps names to numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Maps names to the ids 0 to size() - 1 and back, and counts how often each occurs. Ids are assigned in the
// order in which names are first added and never change.
//
// All characters are stored in one string, found through an open-addressing hash table of ids: no heap object
// per name or search. A name takes its length plus 27 to 38 bytes, and up to twice that while the arrays
// grow. Any number of threads may read a vocabulary that no thread changes.
class LAPSE_EXPORT Vocabulary {
 public:
  using Id = std::uint32_t;

  // The id of a name; a new name gets the next one. Adds `occurrences` to its count. Throws UsageError if the
  // name is empty or no ids are left.
  Id add(std::string_view name, std::uint64_t occurrences = 1);

  std::optional<Id> find(std::string_view name) const;

  // Valid until the next add(). Throws UsageError for an unassigned id.
  std::string_view name(Id id) const;
  std::uint64_t count(Id id) const;

  std::size_t size() const { return counts_.size(); }
  bool empty() const { return counts_.empty(); }

  // The same names and counts, numbered by descending count, equal counts by the bytes of the name, so the
  // order depends only on names and counts. The arrays of the result have no spare capacity.
  Vocabulary sorted() const;

  // The ids in `other` of this vocabulary's names, in the order of this vocabulary's ids. Throws UsageError,
  // naming the first missing name, if `other` lacks names.
  std::vector<Id> translation_to(const Vocabulary& other) const;

  // Names with counts in id order: for each the count (64 bits), the length (32 bits), the characters.
  std::vector<std::byte> to_bytes() const;
  // Adds the names of to_bytes. Throws ProtocolError if the bytes are damaged; names before the damage may
  // have been added.
  void add_bytes(std::span<const std::byte> bytes);

  // Memory of names, counts and hash table.
  std::size_t memory_bytes() const;

 private:
  // A name's id (kFree: no name) and half of its hash, which avoids most comparisons with other names.
  struct Slot {
    std::uint32_t hash = 0;
    Id id = kFree;
  };
  static constexpr Id kFree = 0xffffffff;

  void check(Id id) const;
  // Index of the slot with this name, or of the free slot where it belongs.
  std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
  void grow();

  std::vector<char> characters_;          // of all names, concatenated
  std::vector<std::uint64_t> name_ends_;  // in characters_
  std::vector<std::uint64_t> counts_;
  std::vector<Slot> slots_;  // a power of two of them, at most three quarters in use
};

}  // namespace lapse::io
