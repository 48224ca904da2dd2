// Questions that a trained model answers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/model_files/query_error.hpp"

namespace lapse::apps {

struct Scored {
  std::string name;
  double value = 0;
};

// One kind of question, about one model. Immutable: any number of threads may ask.
class Question {
 public:
  virtual ~Question() = default;

  // What a query consists of, as "USER ITEM".
  virtual std::string_view fields() const = 0;
  // Whether the answer is one number, without a name.
  virtual bool is_number() const { return false; }
  // Whether a query is a document or a sample: any number of fields, too many to be repeated with the answer.
  virtual bool is_long() const { return false; }

  // The best answers first, or the number. Throws QueryError.
  virtual std::vector<Scored> answer(std::span<const std::string_view> query) const = 0;
};

// Throws QueryError unless the query has as many fields as `expected` has words.
void require_fields(std::span<const std::string_view> query, std::string_view expected);

}  // namespace lapse::apps
