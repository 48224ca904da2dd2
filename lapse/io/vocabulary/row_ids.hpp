// The ids that the rows of a matrix have in data files: numbers or names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/vocabulary/id_index.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::io {

// `found`: the first id of the files decides.
enum class IdKind : std::uint8_t { found, numbers, names };

// Numbers the different ids that occur, from 0. Either all are 64-bit numbers, or all are names. Used by one
// thread.
class LAPSE_EXPORT RowIds {
 public:
  using Index = IdIndex::Index;

  IdKind kind() const { return kind_; }
  // Numbers or names, before the first id.
  void set_kind(IdKind kind) { kind_ = kind; }

  // The index of the id; a new id gets the next one. Ids of the other kind must not have been added.
  Index add(std::uint64_t id) { return numbers_.add(id); }
  Index add(std::string_view name) { return names_.add(name); }

  std::size_t size() const { return numbers_.size() + names_.size(); }
  // By index; empty if the ids are names.
  const std::vector<std::uint64_t>& ids() const { return numbers_.ids(); }
  // By index, with the number of times that each was added; empty if the ids are numbers.
  const Vocabulary& names() const { return names_; }
  // As in the files.
  std::string text(std::size_t index) const;

  // Renumbers the ids in ascending order, names in that of their bytes, so that the indices depend only on
  // the set of ids. Returns the new index of each old one.
  std::vector<Index> sort();

 private:
  IdKind kind_ = IdKind::found;
  IdIndex numbers_;
  Vocabulary names_;
};

}  // namespace lapse::io
