// The rows of an array, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/model_description.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::apps {

// The names of 0 to size() - 1: names in a text file, numbers in an array, or these numbers themselves.
// Immutable.
class RowNames {
 public:
  // `noun`: what a name is of, for messages, as "user". `first`: the name of row 0 where names are its
  // numbers themselves.
  RowNames(std::string noun, std::size_t size, std::uint64_t first = 0)
      : noun_(std::move(noun)), size_(size), first_(first) {}
  RowNames(std::string noun, io::Vocabulary names);

  // From the files `<role>_names` or `<role>_ids` of the model if it has them. Throws FileError, also if the
  // file has another number of names than rows.
  static RowNames read(const ModelDescription& model, const std::string& role, std::string noun,
                       std::size_t size);

  std::size_t size() const { return size_; }
  // Nullopt for a name that no row has.
  std::optional<std::size_t> try_find(std::string_view name) const;
  // Throws QueryError for such a name.
  std::size_t find(std::string_view name) const;
  std::string name(std::size_t row) const;
  // How often the name of a row occurs in the data; 0: not recorded.
  std::uint64_t occurrences(std::size_t row) const;

 private:
  std::string noun_;
  std::size_t size_;
  std::uint64_t first_ = 0;
  io::Vocabulary names_;            // empty: there are none
  std::vector<std::uint64_t> ids_;  // ascending; empty: there are none
};

// A row of numbers for each name. Immutable.
class NamedRows {
 public:
  NamedRows(RowNames names, std::vector<float> values)
      : names_(std::move(names)), length_(values.size() / names_.size()), values_(std::move(values)) {}

  const RowNames& names() const { return names_; }
  std::size_t size() const { return names_.size(); }
  std::size_t length() const { return length_; }
  std::span<const float> values() const { return values_; }
  std::span<const float> row(std::size_t index) const {
    return std::span(values_).subspan(index * length_, length_);
  }

 private:
  RowNames names_;
  std::size_t length_;
  std::vector<float> values_;
};

// Reads the array in the model's file `role`. Throws FileError if it has not `rows` rows of `length` finite
// numbers.
std::vector<float> read_rows(const ModelDescription& model, const std::string& role, std::uint64_t rows,
                             std::uint64_t length);

}  // namespace lapse::apps
