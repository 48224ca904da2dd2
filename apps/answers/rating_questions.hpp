// Questions to a factorized matrix of ratings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/answers/question.hpp"
#include "apps/common/model_description.hpp"
#include "apps/model_files/named_rows.hpp"
#include "lapse/io/text/table_columns.hpp"

namespace lapse::apps {

// The factors that the application has written. A rating is predicted as
//   mean + row_bias + column_bias + row . column,
// without biases if the model has none. Of a model that was trained to rank items this is a score, without a
// mean, which is compared only with those of the same user. Immutable.
class RatingModel {
 public:
  // Rows (users) or columns (items).
  struct Side {
    NamedRows factors;
    std::vector<float> biases;  // zeros if the model has none
  };

  // Throws FileError for files that are missing or do not fit the description.
  explicit RatingModel(const ModelDescription& model);

  const Side& users() const { return users_; }
  const Side& items() const { return items_; }
  double rating(std::size_t user, std::size_t item) const;
  // Whether ratings are scores, which compare only the items of one user.
  bool ranks_items() const { return ranks_items_; }

 private:
  bool ranks_items_;
  double mean_;
  Side users_;
  Side items_;
};

// One side of the model, as for SimilarQuestion: rows or columns. Throws FileError.
NamedRows read_factors(const ModelDescription& model, bool of_rows);

// USER ITEM: the predicted rating, or score.
class RatingQuestion final : public Question {
 public:
  explicit RatingQuestion(RatingModel model) : model_(std::move(model)) {}

  std::string_view fields() const override { return "USER ITEM"; }
  bool is_number() const override { return true; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  RatingModel model_;
};

// USER: the items with the highest predicted ratings or scores; or ITEM: such users. Without those whose
// rating is in one of the files `seen`.
class BestRatedQuestion final : public Question {
 public:
  enum class Asked : std::uint8_t { items, users };

  // `format`: of these files. Users and items of them that the model lacks are ignored. Throws what
  // read_ratings throws, ConfigurationError if scores do not compare what is asked, and FileError for a file
  // of which the model has no rating's user and item. Prints what read_ratings warns of.
  BestRatedQuestion(RatingModel model, Asked asked, std::size_t count, const std::vector<std::string>& seen,
                    const io::TableFormat& format);

  std::string_view fields() const override { return asked_ == Asked::items ? "USER" : "ITEM"; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  void read_seen(const std::string& file, const io::TableFormat& format);

  RatingModel model_;
  Asked asked_;
  std::size_t count_;
  std::vector<std::vector<std::uint32_t>> seen_;  // by what the query names, ascending; empty: none
};

}  // namespace lapse::apps
