#include "apps/answers/rating_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "apps/answers/best_rows.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/matrices/rating_file.hpp"

namespace lapse::apps {

namespace {

RatingModel::Side read_side(const ModelDescription& model, const std::string& rows, const std::string& role) {
  RatingModel::Side side{read_factors(model, role == "row"), {}};
  if (model.has_file(role + "_biases"))
    side.biases = read_rows(model, role + "_biases", model.count(rows), 1);
  else
    side.biases.assign(side.factors.size(), 0);
  return side;
}

// The row of each id, or nullopt.
std::vector<std::optional<std::uint32_t>> rows_of(const io::RowIds& ids, const RowNames& names) {
  std::vector<std::optional<std::uint32_t>> rows;
  rows.reserve(ids.size());
  for (std::size_t id = 0; id < ids.size(); ++id) {
    const auto row = names.try_find(ids.text(id));
    rows.push_back(row ? std::optional(static_cast<std::uint32_t>(*row)) : std::nullopt);
  }
  return rows;
}

// Whether the model was trained to rank items. Descriptions of earlier releases have no loss: they are of
// ratings.
bool is_ranking(const ModelDescription& model) {
  const std::string loss = model.text_or_empty("loss");
  if (loss.empty() || loss == "squared") return false;
  if (loss == "bpr" || loss == "warp") return true;
  throw FileError(model.path(), fmt::format("has the loss '{}', expected squared, bpr or warp", loss));
}

}  // namespace

NamedRows read_factors(const ModelDescription& model, bool of_rows) {
  const std::string role = of_rows ? "row" : "column";
  const std::uint64_t rows = model.count(role + "s");
  std::vector<float> factors = read_rows(model, role + "s", rows, model.count("rank"));
  return {RowNames::read(model, role, of_rows ? "user" : "item", rows), std::move(factors)};
}

RatingModel::RatingModel(const ModelDescription& model)
    : ranks_items_(is_ranking(model)),
      mean_(ranks_items_ ? 0 : model.number("mean")),
      users_(read_side(model, "rows", "row")),
      items_(read_side(model, "columns", "column")) {}

double RatingModel::rating(std::size_t user, std::size_t item) const {
  return mean_ + static_cast<double>(users_.biases[user]) + static_cast<double>(items_.biases[item]) +
         dot_of_rows(users_.factors.row(user), items_.factors.row(item));
}

std::vector<Scored> RatingQuestion::answer(std::span<const std::string_view> query) const {
  require_fields(query, fields());
  const std::size_t user = model_.users().factors.names().find(query[0]);
  const std::size_t item = model_.items().factors.names().find(query[1]);
  return {{{}, model_.rating(user, item)}};
}

BestRatedQuestion::BestRatedQuestion(RatingModel model, Asked asked, std::size_t count,
                                     const std::vector<std::string>& seen, const io::TableFormat& format)
    : model_(std::move(model)), asked_(asked), count_(count) {
  if (asked == Asked::users && model_.ranks_items())
    throw ConfigurationError("the model's scores rank the items of one user, and do not compare users");
  for (const std::string& file : seen) read_seen(file, format);
  for (std::vector<std::uint32_t>& rows : seen_) std::ranges::sort(rows);
}

void BestRatedQuestion::read_seen(const std::string& file, const io::TableFormat& format) {
  const RowNames& users = model_.users().factors.names();
  const RowNames& items = model_.items().factors.names();
  seen_.resize(asked_ == Asked::items ? users.size() : items.size());
  io::RatingIds ids;
  const io::CoordinateMatrix ratings = io::read_ratings(
      file, ids,
      {.columns = format.columns, .separator = format.separator, .ids = io::IdKind::names});  // as text
  for (const std::string& warning : ratings.warnings) fmt::print(stderr, "warning: {}\n", warning);
  const auto user_rows = rows_of(ids.users, users);
  const auto item_rows = rows_of(ids.items, items);
  bool has_known = false;
  for (const io::Cell& cell : ratings.cells) {
    const auto user = user_rows[cell.row];
    const auto item = item_rows[cell.column];
    if (!user || !item) continue;
    has_known = true;
    if (asked_ == Asked::items)
      seen_[*user].push_back(*item);
    else
      seen_[*item].push_back(*user);
  }
  if (!has_known) {
    throw FileError(file, fmt::format("the model has no user and item of its ratings; they were read {}",
                                      ratings.layout));
  }
}

std::vector<Scored> BestRatedQuestion::answer(std::span<const std::string_view> query) const {
  require_fields(query, fields());
  const bool asks_items = asked_ == Asked::items;
  const RatingModel::Side& known = asks_items ? model_.users() : model_.items();
  const RatingModel::Side& asked = asks_items ? model_.items() : model_.users();
  const std::size_t row = known.factors.names().find(query[0]);
  std::vector<double> ratings(asked.factors.size());
  for (std::size_t other = 0; other < ratings.size(); ++other)
    ratings[other] = asks_items ? model_.rating(row, other) : model_.rating(other, row);
  const std::span<const std::uint32_t> seen =
      seen_.empty() ? std::span<const std::uint32_t>() : std::span<const std::uint32_t>(seen_[row]);
  return best_rows(ratings, asked.factors.names(), count_, seen);
}

}  // namespace lapse::apps
