#include "apps/answers/document_questions.hpp"

#include <fmt/format.h>

#include <map>

#include "apps/answers/best_rows.hpp"
#include "apps/topic_model/document_mixture.hpp"
#include "apps/topic_model/saved_topics.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/npy/npy_reader.hpp"

namespace lapse::apps {

namespace {

SavedTopics saved_topics_of(const ModelDescription& model) {
  return read_saved_topics({model.path_of("counts"), model.path_of("priors"),
                            model.has_file("vocabulary") ? model.path_of("vocabulary") : std::string()});
}

RowNames names_of_words(const SavedTopics& saved) {
  if (!saved.vocabulary.empty()) return {"word", saved.vocabulary};
  return {"word", saved.priors.words, 1};
}

std::vector<float> word_shares(const std::string& path, const TopicPriors& priors) {
  const std::vector<std::int32_t> counts = io::read_npy<std::int32_t>(path).values;
  const std::size_t topics = priors.topics();
  std::vector<double> totals(topics, static_cast<double>(priors.words) * priors.beta);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0) {
      throw FileError(path, fmt::format("counts word {} {} times with topic {}, expected 0 or more",
                                        i / topics + 1, counts[i], i % topics + 1));
    }
    totals[i % topics] += counts[i];
  }
  std::vector<float> shares;
  shares.reserve(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    shares.push_back(static_cast<float>((counts[i] + priors.beta) / totals[i % topics]));
  return shares;
}

}  // namespace

TopicModel::TopicModel(const ModelDescription& model) : TopicModel(model, saved_topics_of(model)) {}

TopicModel::TopicModel(const ModelDescription& model, SavedTopics saved)
    : words_(names_of_words(saved)),
      topics_("topic", saved.priors.topics(), 1),
      priors_(std::move(saved.priors)),
      values_(word_shares(model.path_of("counts"), priors_)) {}

std::vector<Scored> DocumentQuestion::answer(std::span<const std::string_view> query) const {
  std::map<std::size_t, std::uint32_t> occurrences;
  for (const std::string_view word : query)
    if (const auto row = model_.words().try_find(word)) ++occurrences[*row];
  if (occurrences.empty())
    throw QueryError(fmt::format("the model has none of the {} words of the document", query.size()));
  std::vector<io::WordCount> words;
  std::vector<const float*> of_topics;
  for (const auto& [word, count] : occurrences) {
    words.push_back({static_cast<io::Vocabulary::Id>(word), count});
    of_topics.push_back(model_.of_topics(word));
  }
  DocumentMixture mixture(model_.priors().alpha);
  return best_rows(mixture.infer(words, of_topics), model_.topics(), count_);
}

std::vector<Scored> TopicWordsQuestion::answer(std::span<const std::string_view> query) const {
  require_fields(query, fields());
  const std::size_t topic = model_.topics().find(query[0]);
  std::vector<double> shares(model_.words().size());
  for (std::size_t word = 0; word < shares.size(); ++word)
    shares[word] = static_cast<double>(model_.of_topics(word)[topic]);
  return best_rows(shares, model_.words(), count_);
}

}  // namespace lapse::apps
