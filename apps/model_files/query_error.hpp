// The error of a question about a trained model.
#pragma once

#include <stdexcept>

namespace lapse::apps {

// A query that the model cannot answer: it names something that the model lacks, or has other fields.
class QueryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lapse::apps
