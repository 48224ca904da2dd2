#include "lapse/io/matrices/rating_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "lapse/io/text/header_names.hpp"

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

}  // namespace

void RatingColumns::add_header(std::string_view line, Separator separator) {
  const std::array<std::span<const std::string_view>, 3> expected{kUserNames, kItemNames, kRatingNames};
  Fields fields(line, separator);
  std::vector<std::string> names;
  bool fits = true;
  for (std::string_view field; fields.next(field);) {
    if (names.size() < expected.size()) fits = fits && is_header_name(field, expected[names.size()]);
    names.push_back(fmt::format("'{}'", shown(field)));
  }
  if (fits) return;
  if (names.size() > kMaxNamesShown) {
    names.resize(kMaxNamesShown);
    names.emplace_back("...");
  }
  header_ = fmt::format(
      "the header names the columns {}: the first three are read as user, item and rating, whatever their "
      "names",
      fmt::join(names, ", "));
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
