// Which rows are similar to one.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "apps/answers/best_rows.hpp"
#include "apps/answers/question.hpp"
#include "apps/model_files/named_rows.hpp"

namespace lapse::apps {

// NAME: the other rows by their cosine with its row.
class SimilarQuestion final : public Question {
 public:
  SimilarQuestion(NamedRows rows, std::size_t count)
      : rows_(std::make_unique<const NamedRows>(std::move(rows))), cosines_(*rows_), count_(count) {}

  std::string_view fields() const override { return "NAME"; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  std::unique_ptr<const NamedRows> rows_;
  RowCosines cosines_;
  std::size_t count_;
};

// A B C: the words D that are to C as B is to A: by the cosine with b - a + c, of rows of length 1 (3CosAdd:
// Mikolov et al. 2013; Levy & Goldberg 2014).
class AnalogyQuestion final : public Question {
 public:
  AnalogyQuestion(NamedRows rows, std::size_t count)
      : rows_(std::make_unique<const NamedRows>(std::move(rows))), cosines_(*rows_), count_(count) {}

  std::string_view fields() const override { return "A B C"; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  std::unique_ptr<const NamedRows> rows_;
  RowCosines cosines_;
  std::size_t count_;
};

}  // namespace lapse::apps
