// Asks a model many queries and prints the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/answers/question.hpp"

namespace lapse::apps {

// The fields of a query: separated by tabs if it has one, else by runs of blanks, unless a query has one
// field only, which may contain blanks. Valid as long as the line.
std::vector<std::string_view> query_fields(std::string_view line, const Question& question);

// Answers queries in the order in which they are asked. Text has a line for each answer, with fields
// separated by tabs: those of the query (of a document or sample: the number of its line, from 1), the
// answer's name unless it is a number alone, and its value; errors are printed to `errors`. JSON has a line
// for each query: an object with query and answers, value or error. Used by one thread.
class QueryAnswers {
 public:
  struct Output {
    std::FILE* answers = stdout;
    std::FILE* errors = stderr;
    bool json = false;
  };

  // Both must outlive the object. `threads`: that answer queries at the same time.
  QueryAnswers(const Question& question, std::size_t threads, Output output)
      : question_(question), threads_(threads), output_(output) {}

  // Answers these queries side by side and prints; lines without fields are no queries. Throws FileError if
  // the answers cannot be written.
  void ask(const std::vector<std::string>& lines);
  void ask(std::vector<std::string_view> fields);

  // Queries that had no answer.
  std::uint64_t errors() const { return errors_; }

 private:
  struct Query {
    std::vector<std::string_view> fields;
    std::uint64_t number = 1;  // of its line, from 1
    std::vector<Scored> answers = {};
    std::string error = {};
  };

  void answer(std::vector<Query>& queries) const;
  void print(const Query& query);
  void print_json(const Query& query) const;
  void flush() const;

  const Question& question_;
  std::size_t threads_;
  Output output_;
  std::uint64_t lines_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace lapse::apps
