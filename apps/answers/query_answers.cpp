#include "apps/answers/query_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "apps/common/word_splitter.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::apps {

namespace {

// Words of a document, or features of a sample.
void append_words(std::string_view line, std::vector<std::string_view>& words) {
  WordSplitter splitter(line);
  for (std::string_view word; splitter.next(word);) words.push_back(word);
}

}  // namespace

std::vector<std::string_view> query_fields(std::string_view line, const Question& question) {
  std::vector<std::string_view> fields;
  const std::string_view text = io::trimmed(line);
  if (text.empty()) return fields;
  if (question.is_long()) {
    append_words(line, fields);
    return fields;
  }
  const bool has_tabs = line.find('\t') != std::string_view::npos;
  const bool is_one = question.fields().find(' ') == std::string_view::npos;
  if (is_one && !has_tabs) return {text};
  io::Fields parts(line, has_tabs ? io::Separator::tab : io::Separator::blanks);
  for (std::string_view field; parts.next(field);) fields.push_back(field);
  return fields;
}

void QueryAnswers::ask(const std::vector<std::string>& lines) {
  std::vector<Query> queries;
  for (const std::string& line : lines) {
    ++lines_;
    std::vector<std::string_view> fields = query_fields(line, question_);
    if (!fields.empty()) queries.push_back({.fields = std::move(fields), .number = lines_});
  }
  answer(queries);
  for (const Query& query : queries) print(query);
  flush();
}

void QueryAnswers::ask(std::vector<std::string_view> fields) {
  if (question_.is_long()) {  // An argument may be a whole document.
    std::vector<std::string_view> words;
    for (const std::string_view field : fields) append_words(field, words);
    fields = std::move(words);
  }
  std::vector<Query> queries{{.fields = std::move(fields)}};
  answer(queries);
  print(queries.front());
  flush();
}

void QueryAnswers::answer(std::vector<Query>& queries) const {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < queries.size(); i = next++) {
      try {
        queries[i].answers = question_.answer(queries[i].fields);
      } catch (const std::exception& error) {
        queries[i].error = error.what();
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (std::size_t helper = 1; helper < std::min(threads_, queries.size()); ++helper)
    helpers.emplace_back(work);
  work();
}

void QueryAnswers::print(const Query& query) {
  if (!query.error.empty()) ++errors_;
  if (output_.json) return print_json(query);
  if (!query.error.empty())
    return fmt::print(output_.errors, "error: query {}: {}\n", query.number, query.error);
  const std::string asked =
      question_.is_long() ? std::to_string(query.number) : fmt::format("{}", fmt::join(query.fields, "\t"));
  for (const Scored& answer : query.answers) {
    fmt::print(output_.answers, "{}\t{}{}{:.6g}\n", asked, answer.name, question_.is_number() ? "" : "\t",
               answer.value);
  }
}

void QueryAnswers::flush() const {
  if (std::fflush(output_.answers) != 0 || std::ferror(output_.answers) != 0)
    throw FileError("the answers", std::string("cannot be written: ") + std::strerror(errno));
}

void QueryAnswers::print_json(const Query& query) const {
  nlohmann::ordered_json json;
  if (question_.is_long())
    json["query"] = query.number;
  else
    json["query"] = query.fields;
  if (!query.error.empty()) {
    json["error"] = query.error;
  } else if (question_.is_number()) {
    json["value"] = query.answers.front().value;
  } else {
    json["answers"] = nlohmann::ordered_json::array();
    for (const Scored& answer : query.answers)
      json["answers"].push_back({{"name", answer.name}, {"value", answer.value}});
  }
  using Handler = nlohmann::ordered_json::error_handler_t;  // names may have any bytes
  fmt::print(output_.answers, "{}\n", json.dump(-1, ' ', false, Handler::replace));
}

}  // namespace lapse::apps
