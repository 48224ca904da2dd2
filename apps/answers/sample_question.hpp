// Questions to a linear model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/answers/question.hpp"
#include "apps/common/model_description.hpp"
#include "apps/linear_model/model_file.hpp"

namespace lapse::apps {

// FEATURE:VALUE...: a sample x. Its two classes, the better first: with their probabilities if the model is
// logistic, else with x . w and -x . w. Features that the model lacks are left out.
class SampleQuestion final : public Question {
 public:
  // Throws FileError.
  explicit SampleQuestion(const ModelDescription& model);

  std::string_view fields() const override { return "FEATURE:VALUE..."; }
  bool is_long() const override { return true; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  LinearModel model_;
  std::uint64_t first_feature_;
};

}  // namespace lapse::apps
