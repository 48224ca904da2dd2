#include "lapse/io/matrices/rating_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lapse/io/text/header_names.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::io {

namespace {

constexpr std::size_t kFewRatings = 10;    // too few to conclude that a column counts the lines
constexpr std::size_t kFewValues = 100;    // too few to conclude an order of columns
constexpr std::size_t kMaxNamesShown = 6;  // of a header

constexpr std::array<std::string_view, 14> kUserNames{
    "user",   "users",    "userid", "uid",      "u",          "customer", "customerid",
    "member", "memberid", "reader", "reviewer", "reviewerid", "person",   "row"};
constexpr std::array<std::string_view, 29> kItemNames{
    "item",    "items",     "itemid",  "iid",       "i",    "movie",  "movies",   "movieid",
    "film",    "filmid",    "product", "productid", "book", "bookid", "song",     "songid",
    "track",   "trackid",   "artist",  "artistid",  "asin", "isbn",   "business", "businessid",
    "article", "articleid", "game",    "column",    "col"};
constexpr std::array<std::string_view, 14> kRatingNames{
    "rating", "ratings", "score",  "scores", "star",  "stars",     "value",
    "r",      "overall", "weight", "count",  "plays", "playcount", "preference"};

// The column whose name comes first among the names; nullopt if no column has one of them, or two the same.
std::optional<std::size_t> column_of(std::span<const std::string_view> header,
                                     std::span<const std::string_view> names) {
  for (const std::string_view& name : names) {
    std::optional<std::size_t> found;
    for (std::size_t column = 0; column < header.size(); ++column) {
      if (!is_header_name(header[column], std::span(&name, 1))) continue;
      if (found) return std::nullopt;
      found = column;
    }
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

bool is_user_name(std::string_view field) {
  return is_header_name(field, kUserNames);
}

bool is_item_name(std::string_view field) {
  return is_header_name(field, kItemNames);
}

std::optional<NamedColumns> columns_by_name(std::span<const std::string_view> header) {
  const auto user = column_of(header, kUserNames);
  const auto item = column_of(header, kItemNames);
  const auto rating = column_of(header, kRatingNames);
  if (!user || !item || !rating) return std::nullopt;
  return NamedColumns{*user, *item, *rating};
}

void RatingColumns::add_header(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) {
    if (quoted.size() == kMaxNamesShown) {
      quoted.emplace_back("...");
      break;
    }
    quoted.push_back(fmt::format("'{}'", shown(name)));
  }
  header_ = fmt::format(
      "the header names the columns {}: the first three are read as user, item and rating, whatever their "
      "names",
      fmt::join(quoted, ", "));
}

void RatingColumns::add(std::uint64_t user, const Cell& cell) {
  if (ratings_ == 0) first_user_ = user;
  counts_lines_ = counts_lines_ && user == first_user_ + ratings_;
  has_integers_ = has_integers_ && cell.value == std::floor(cell.value);
  items_.insert(cell.column);
  values_.insert(cell.value);
  ++ratings_;
}

std::string RatingColumns::warning() const {
  if (!header_.empty()) return header_;
  if (columns_ > 3 && counts_lines_ && ratings_ >= kFewRatings)
    return "the first column counts the lines, and is read as the user: the columns are read as user, item "
           "and "
           "rating, others are left out";
  if (has_integers_ && ratings_ >= kFewValues && values_.size() > items_.size()) {
    return fmt::format(
        "the first {} lines have {} different ratings of {} different items: the columns are read as user, "
        "item and rating",
        ratings_, values_.size(), items_.size());
  }
  return {};
}

}  // namespace lapse::io
