// Questions to a topic model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "apps/answers/question.hpp"
#include "apps/common/model_description.hpp"
#include "apps/model_files/named_rows.hpp"
#include "apps/topic_model/saved_topics.hpp"
#include "apps/topic_model/topic_priors.hpp"

namespace lapse::apps {

// The topics that the application has written, as p(w | k) = (n_wk + beta) / (n_k + W beta). Topics are
// numbered from 1, and so are words without names. Immutable.
class TopicModel {
 public:
  // Throws FileError for files that are missing or do not fit the description.
  explicit TopicModel(const ModelDescription& model);

  const RowNames& words() const { return words_; }
  const RowNames& topics() const { return topics_; }
  const TopicPriors& priors() const { return priors_; }
  // p(w | k) of the word, by topic.
  const float* of_topics(std::size_t word) const { return values_.data() + word * topics_.size(); }

 private:
  TopicModel(const ModelDescription& model, SavedTopics saved);

  RowNames words_;
  RowNames topics_;
  TopicPriors priors_;
  std::vector<float> values_;
};

// WORD...: a document, in which words occur as often as they are named. Its topics by their shares
// (DocumentMixture). Words that the model lacks are left out.
class DocumentQuestion final : public Question {
 public:
  DocumentQuestion(TopicModel model, std::size_t count) : model_(std::move(model)), count_(count) {}

  std::string_view fields() const override { return "WORD..."; }
  bool is_long() const override { return true; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  TopicModel model_;
  std::size_t count_;
};

// TOPIC: its words with the largest p(w | k).
class TopicWordsQuestion final : public Question {
 public:
  TopicWordsQuestion(TopicModel model, std::size_t count) : model_(std::move(model)), count_(count) {}

  std::string_view fields() const override { return "TOPIC"; }
  std::vector<Scored> answer(std::span<const std::string_view> query) const override;

 private:
  TopicModel model_;
  std::size_t count_;
};

}  // namespace lapse::apps
