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
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/answers/model_questions.hpp"
#include "apps/answers/query_answers.hpp"
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
  CLI::Option* const query = command->add_option("query", options.query, "The fields of one query");
  command
      ->add_option(
          "--queries", options.queries,
          "File with a query on each line, its fields separated by tabs or blanks; -: standard input")
      ->excludes(query)
      ->capture_default_str();
  command->add_flag("--json", options.json, "Print a JSON object for each query");
  command->add_option("--threads", options.threads, "Queries answered at the same time")
      ->check(CLI::Range(1, 4096));
  if (question.name != "rating" && question.name != "score" && question.name != "classes") {
    command->add_option("--count,-n", options.question.count, "Answers of each query")
        ->check(CLI::Range(1, 1000000000))
        ->capture_default_str();
  }
  if (question.name == "items" || question.name == "users")
    command->add_option("--seen", options.question.seen, "Rating files: what they rate is left out");
  if (question.name == "tails" || question.name == "heads" || question.name == "relations")
    command->add_option("--known", options.question.known, "Triple files: their triples are left out");
  if (question.name == "similar") {
    command
        ->add_option("--of", options.question.of,
                     "rows or columns (default) of a matrix; entities (default) or relations of a graph")
        ->check(CLI::IsMember({"rows", "columns", "entities", "relations"}));
  }
}

// As queries arrive: what has been read is answered before more is waited for.
void ask_standard_input(QueryAnswers& answers, std::string_view fields) {
  const bool is_terminal = isatty(STDIN_FILENO) == 1;
  const auto prompt = [&] {
    if (is_terminal) fmt::print(stderr, "{}> ", fields);
  };
  std::vector<std::string> lines;
  prompt();
  for (std::string line; std::getline(std::cin, line);) {
    lines.push_back(std::move(line));
    if (lines.size() < kQueriesPerBlock && std::cin.rdbuf()->in_avail() > 0) continue;
    answers.ask(lines);
    lines.clear();
    prompt();
  }
  answers.ask(lines);
}

void ask_file(QueryAnswers& answers, const std::string& path) {
  lapse::io::LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) {
    lines.emplace_back(line);
    if (lines.size() < kQueriesPerBlock) continue;
    answers.ask(lines);
    lines.clear();
  }
  answers.ask(lines);
}

// Returns the exit status.
int ask(std::string_view name, const AnswerOptions& options) {
  const auto question = make_question(name, ModelDescription::read(options.model), options.question);
  QueryAnswers answers(*question, options.threads, {.json = options.json});
  if (!options.query.empty())
    answers.ask(std::vector<std::string_view>(options.query.begin(), options.query.end()));
  else if (options.queries == "-")
    ask_standard_input(answers, question->fields());
  else
    ask_file(answers, options.queries);
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
      return 0;
    }
    return ask(app.get_subcommands().front()->get_name(), options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
