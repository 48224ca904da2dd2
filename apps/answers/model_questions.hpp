// Which questions a model answers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/answers/question.hpp"
#include "apps/common/model_description.hpp"
#include "apps/model_files/named_rows.hpp"
#include "lapse/io/triples/triple_file.hpp"

namespace lapse::apps {

struct QuestionOptions {
  std::size_t count = 10;               // answers of a query
  std::vector<std::string> seen = {};   // rating files whose ratings are left out
  std::vector<std::string> known = {};  // triple files whose triples are left out
  io::TableFormat format = {};          // of these files, unless the model's description says it
  std::string of = {};                  // similar: rows, columns, entities or relations; empty: the default
};

struct QuestionName {
  std::string_view name;
  std::string_view kind;  // of the models that answer it; empty: see similar
  std::string_view meaning;
};

// In the order in which they are listed.
const std::vector<QuestionName>& question_names();

// Throws FileError for a model whose files are missing or damaged, and ConfigurationError for a question
// that models of its kind do not answer, with those that they do.
std::unique_ptr<const Question> make_question(std::string_view name, const ModelDescription& model,
                                              const QuestionOptions& options);

// The rows of which the question `similar` is asked. `of`: as in QuestionOptions. Throws FileError for
// missing or damaged files, and ConfigurationError for a model without such rows.
NamedRows model_rows(const ModelDescription& model, const std::string& of);

// What `lapse-answers describe` prints: the command that made the model, its parameters, files and formula.
std::string describe_model(const ModelDescription& model);

}  // namespace lapse::apps
