// Checks whether the columns of a rating file look like user, item and rating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lapse/io/matrices/coordinate_matrix.hpp"

namespace lapse::io {

// Whether the field is a common name of such a column.
bool is_user_name(std::string_view field);
bool is_item_name(std::string_view field);

struct NamedColumns {
  std::size_t user;
  std::size_t item;
  std::size_t rating;
};
// The columns of a header that has a common name for each of the three; the more common one if there are
// several.
std::optional<NamedColumns> columns_by_name(std::span<const std::string_view> header);

// Gets the header and the first lines of a file, and makes a warning if they suggest other columns. Used by
// one thread.
class RatingColumns {
 public:
  // The number of ratings that are checked.
  static constexpr std::size_t kMaxRatings = 10000;

  // `columns`: of every line.
  explicit RatingColumns(std::size_t columns) : columns_(columns) {}

  // Of names that columns_by_name does not know.
  void add_header(const std::vector<std::string>& names);
  bool wants_more() const { return ratings_ < kMaxRatings; }
  void add(std::uint64_t user, const Cell& cell);

  // A message to follow the name of the file; empty if nothing is wrong.
  std::string warning() const;

 private:
  std::size_t columns_;
  std::string header_;  // a problem with it
  std::size_t ratings_ = 0;
  std::uint64_t first_user_ = 0;
  bool counts_lines_ = true;  // the users are n, n + 1, n + 2, …
  bool has_integers_ = true;  // as ratings
  std::unordered_set<std::uint32_t> items_;
  std::unordered_set<float> values_;
};

}  // namespace lapse::io
