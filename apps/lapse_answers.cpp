// Answers questions with a trained model, without MPI.
//   lapse-answers items out/ratings 42 --seen ratings.tsv
//   lapse-answers tails out/graph --queries pairs.tsv --json
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "apps/answers/model_questions.hpp"
#include "apps/answers/query_answers.hpp"
#include "apps/common/table_options.hpp"
#include "lapse/core/byte_order_mark.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/version.hpp"
#include "lapse/io/text/line_reader.hpp"

namespace {

using namespace lapse::apps;

constexpr std::size_t kQueriesPerBlock = 1024;  // that are answered side by side

struct AnswerOptions {
  std::string model;
  std::vector<std::string> query;
  std::string queries = "-";
  QuestionOptions question;
  bool json = false;
  std::uint32_t threads = std::max(1U, std::thread::hardware_concurrency());
};

void add_question(CLI::App& app, AnswerOptions& options, const QuestionName& question) {
  CLI::App* const command = app.add_subcommand(std::string(question.name), std::string(question.meaning));
  command
      ->add_option("model", options.model,
                   "What the application was given to write the model to; its description is MODEL.json")
      ->required();
  command->allow_extras();  // The fields of one query, as they are: brackets mean no lists.
  command
      ->add_option(
          "--queries", options.queries,
          "File with a query on each line, its fields separated by tabs or blanks; -: standard input")
      ->capture_default_str();
  command->add_flag("--json", options.json, "Print a JSON object for each query");
  command->add_option("--threads", options.threads, "Queries answered at the same time")
      ->check(CLI::Range(1, 4096));
  if (question.name != "rating" && question.name != "score" && question.name != "classes") {
    command->add_option("--count,-n", options.question.count, "Answers of each query")
        ->check(CLI::Range(1, 1000000000))
        ->capture_default_str();
  }
  const bool is_rated = question.name == "items" || question.name == "users";
  const bool is_part = question.name == "tails" || question.name == "heads" || question.name == "relations";
  if (is_rated) {
    command
        ->add_option("--seen", options.question.seen,
                     "Rating file: what it rates is left out; may be given several times")
        ->allow_extra_args(false);
    add_columns(*command, "--columns", options.question.format.columns, {"USER", "ITEM", "RATING"}, 2);
  }
  if (is_part) {
    command
        ->add_option("--known", options.question.known,
                     "Triple file: its triples are left out; may be given several times")
        ->allow_extra_args(false);
    add_columns(*command, "--columns", options.question.format.columns, {"SUBJECT", "RELATION", "OBJECT"}, 3);
  }
  if (is_rated || is_part) add_separator(*command, options.question.format.separator);
  if (question.name == "similar") {
    command
        ->add_option("--of", options.question.of,
                     "rows or columns (default) of a matrix; entities (default) or relations of a graph")
        ->check(CLI::IsMember({"rows", "columns", "entities", "relations"}));
  }
}

// As queries arrive: what has been read is answered before more is waited for.
void ask_stream(QueryAnswers& answers, std::string_view fields, std::istream& stream, bool is_terminal) {
  const auto prompt = [&] {
    if (is_terminal) fmt::print(stderr, "{}> ", fields);
  };
  std::vector<std::string> lines;
  bool is_first = true;
  prompt();
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (is_first && line.starts_with(lapse::kByteOrderMark)) line.erase(0, lapse::kByteOrderMark.size());
    is_first = false;
    lines.push_back(std::move(line));
    if (lines.size() < kQueriesPerBlock && stream.rdbuf()->in_avail() > 0) continue;
    answers.ask(lines);
    lines.clear();
    prompt();
  }
  answers.ask(lines);
}

void ask_file(QueryAnswers& answers, const std::string& path) {
  lapse::io::LineReader reader(path);
  std::vector<std::string> lines;
  const auto read = [&] {
    std::string_view line;
    if (!reader.next(line)) return false;
    lines.emplace_back(line);
    return true;
  };
  try {
    while (read()) {
      if (lines.size() < kQueriesPerBlock) continue;
      answers.ask(lines);
      lines.clear();
    }
  } catch (const lapse::FileError&) {
    answers.ask(lines);  // Before the damage.
    throw;
  }
  answers.ask(lines);
}

void ask_all(QueryAnswers& answers, const Question& question, const AnswerOptions& options) {
  if (!options.query.empty())
    return answers.ask(std::vector<std::string_view>(options.query.begin(), options.query.end()));
  if (options.queries == "-")
    return ask_stream(answers, question.fields(), std::cin, isatty(STDIN_FILENO) == 1);
  std::error_code ignored;
  const auto kind = std::filesystem::status(options.queries, ignored).type();
  if (kind != std::filesystem::file_type::fifo && kind != std::filesystem::file_type::character)
    return ask_file(answers, options.queries);
  std::ifstream stream(options.queries);
  if (!stream) throw lapse::FileError(options.queries, "cannot be read");
  ask_stream(answers, question.fields(), stream, false);
}

// Returns the exit status.
int ask(std::string_view name, const AnswerOptions& options) {
  const auto question = make_question(name, ModelDescription::read(options.model), options.question);
  QueryAnswers answers(*question, options.threads, {.json = options.json});
  ask_all(answers, *question, options);
  return answers.errors() == 0 ? 0 : 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::ios::sync_with_stdio(false);  // so that it is known what has been read
  CLI::App app("Answers questions with the models that the applications write; needs no MPI.",
               "lapse-answers");
  app.set_version_flag("--version", std::string("lapse ") + lapse::library_version_text(),
                       "Print the version and end");
  app.require_subcommand(1);
  AnswerOptions options;
  CLI::App* const describe = app.add_subcommand("describe", "What the model is, its files and its formula");
  describe->add_option("model", options.model, "As above")->required();
  for (const QuestionName& question : question_names()) add_question(app, options, question);
  CLI11_PARSE(app, argument_count, arguments);

  try {
    if (describe->parsed()) {
      fmt::print("{}", describe_model(ModelDescription::read(options.model)));
      if (std::fflush(stdout) != 0) throw lapse::FileError("the description", "cannot be written");
      return 0;
    }
    const CLI::App* const command = app.get_subcommands().front();
    options.query = command->remaining();
    for (const std::string& field : options.query)
      if (field.starts_with("--"))
        throw lapse::ConfigurationError(
            fmt::format("there is no option {} of '{}'", field, command->get_name()));
    if (!options.query.empty() && command->count("--queries") != 0)
      throw lapse::ConfigurationError("--queries and a query are given: expected one of them");
    return ask(command->get_name(), options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
