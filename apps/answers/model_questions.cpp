#include "apps/answers/model_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/answers/document_questions.hpp"
#include "apps/answers/rating_questions.hpp"
#include "apps/answers/sample_question.hpp"
#include "apps/answers/similar_question.hpp"
#include "apps/answers/triple_questions.hpp"
#include "apps/word_vectors/vector_file.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kRatings = "matrix_factorization";
constexpr std::string_view kTriples = "knowledge_graph";
constexpr std::string_view kWords = "word_vectors";
constexpr std::string_view kTopics = "topic_model";
constexpr std::string_view kSamples = "linear_model";

using Made = std::unique_ptr<const Question>;

NamedRows read_words(const ModelDescription& model) {
  const std::string path = model.path_of("vectors");
  WordVectors vectors = read_vectors(path);
  if (vectors.words.empty()) throw FileError(path, "has no words");
  return {RowNames("word", std::move(vectors.words)), std::move(vectors.values)};
}

// Of files with data: as the options say, else as the training data was read.
io::TableFormat format_of(const ModelDescription& model, const QuestionOptions& options) {
  io::TableFormat format = options.format;
  const std::string columns = model.text_or_empty("data_columns");
  if (format.columns.empty() && !columns.empty()) {
    for (std::size_t begin = 0; begin <= columns.size();) {
      const std::size_t end = std::min(columns.find(',', begin), columns.size());
      format.columns.push_back(columns.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (format.separator.empty()) format.separator = model.text_or_empty("data_separator");
  return format;
}

Made of_ratings(std::string_view name, const ModelDescription& model, const QuestionOptions& options) {
  using Asked = BestRatedQuestion::Asked;
  if (name == "rating") return std::make_unique<RatingQuestion>(RatingModel(model));
  return std::make_unique<BestRatedQuestion>(RatingModel(model),
                                             name == "items" ? Asked::items : Asked::users, options.count,
                                             options.seen, format_of(model, options));
}

Made of_triples(std::string_view name, const ModelDescription& model, const QuestionOptions& options) {
  using Asked = MissingPartQuestion::Asked;
  if (name == "score") return std::make_unique<ScoreQuestion>(TripleModel(model));
  const Asked asked = name == "heads" ? Asked::subject : name == "tails" ? Asked::object : Asked::relation;
  return std::make_unique<MissingPartQuestion>(TripleModel(model), asked, options.count, options.known,
                                               format_of(model, options));
}

Made of_topics(std::string_view name, const ModelDescription& model, const QuestionOptions& options) {
  if (name == "topics") return std::make_unique<DocumentQuestion>(TopicModel(model), options.count);
  return std::make_unique<TopicWordsQuestion>(TopicModel(model), options.count);
}

std::string names_of_kind(std::string_view kind) {
  std::string names;
  for (const QuestionName& each : question_names()) {
    const bool fits =
        each.kind == kind || (each.kind.empty() && (kind == kRatings || kind == kTriples || kind == kWords));
    if (fits) names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return names;
}

}  // namespace

NamedRows model_rows(const ModelDescription& model, const std::string& of) {
  const std::string& kind = model.kind();
  if (kind == kRatings && (of.empty() || of == "columns")) return read_factors(model, false);
  if (kind == kRatings && of == "rows") return read_factors(model, true);
  if (kind == kTriples && (of.empty() || of == "entities")) return read_entities(model);
  if (kind == kTriples && of == "relations") return read_relations(model);
  if (kind == kWords && of.empty()) return read_words(model);
  throw ConfigurationError(fmt::format(
      "{} is a {}{}; there are rows and columns of a matrix_factorization, entities and relations of a "
      "knowledge_graph, and word_vectors",
      model.path(), kind, of.empty() ? "" : ", which has no " + of));
}

const std::vector<QuestionName>& question_names() {
  static const std::vector<QuestionName> names{
      {"rating", kRatings, "Predicted ratings, or scores of a model that ranks items: USER ITEM"},
      {"items", kRatings, "The items with the highest predicted ratings for a user: USER"},
      {"users", kRatings, "The users with the highest predicted ratings of an item: ITEM"},
      {"similar", "", "Similar items, users, entities, relations or words: NAME"},
      {"score", kTriples, "The score of a triple: SUBJECT RELATION OBJECT"},
      {"tails", kTriples, "The best objects: SUBJECT RELATION"},
      {"heads", kTriples, "The best subjects: RELATION OBJECT"},
      {"relations", kTriples, "The best relations: SUBJECT OBJECT"},
      {"analogy", kWords, "A is to B as C is to: A B C"},
      {"topics", kTopics, "The topics of a document: WORD..."},
      {"words", kTopics, "The words of a topic: TOPIC"},
      {"classes", kSamples, "The classes of a sample: FEATURE:VALUE..."},
  };
  return names;
}

Made make_question(std::string_view name, const ModelDescription& model, const QuestionOptions& options) {
  for (const QuestionName& each : question_names()) {
    if (each.name != name) continue;
    if (each.kind.empty())
      return std::make_unique<SimilarQuestion>(model_rows(model, options.of), options.count);
    if (each.kind != model.kind()) break;
    if (each.kind == kRatings) return of_ratings(name, model, options);
    if (each.kind == kTriples) return of_triples(name, model, options);
    if (each.kind == kWords) return std::make_unique<AnalogyQuestion>(read_words(model), options.count);
    if (each.kind == kTopics) return of_topics(name, model, options);
    return std::make_unique<SampleQuestion>(model);
  }
  const std::string own = names_of_kind(model.kind());
  throw ConfigurationError(fmt::format("{} is a {}, which does not answer '{}', expected: {}", model.path(),
                                       model.kind(), name, own.empty() ? "no question at all" : own));
}

std::string describe_model(const ModelDescription& model) {
  std::string text = fmt::format("{}: {}\nmade by: {}\n", model.path(), model.kind(), model.command());
  for (const auto& parameter : model.parameters()) {
    const auto append = [&](const auto& value) { text += fmt::format("{}: {}\n", parameter.first, value); };
    std::visit(append, parameter.second);
  }
  for (const ModelDescription::File& file : model.files())
    text += fmt::format("{} ({}): {}\n", file.role, file.name, file.holds);
  return text + fmt::format("{}\nquestions: {}\n", model.formula(), names_of_kind(model.kind()));
}

}  // namespace lapse::apps
