// Options: by name, in the environment, on command lines and in files of options.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "adapm/options.hpp"
#include "apps/knowledge_graph_embeddings/options.hpp"
#include "apps/matrix_factorization/options.hpp"
#include "apps/word_vectors/options.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/options.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

constexpr std::size_t kMaxLines = 64;

// Lines without their ends and without NUL bytes, which neither the environment nor a command line has.
std::vector<std::string> lines_of(std::string text) {
  std::erase(text, '\0');
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size() && lines.size() < kMaxLines;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::pair<std::string, std::string> assignment(const std::string& line) {
  const std::size_t equals = std::min(line.find('='), line.size());
  return {line.substr(0, equals), line.substr(std::min(equals + 1, line.size()))};
}

template <class Options>
void validate(const Options& options) {
  try {
    options.validate();
  } catch (const ConfigurationError&) {
    // Two of them contradict each other.
  }
  check(!options.to_text().empty(), "options can be printed");
}

// What an option says of itself can be set again.
template <class Options>
void set_by_name(const std::string& text) {
  Options options;
  for (const std::string& line : lines_of(text)) {
    const auto [name, value] = assignment(line);
    const Options before = options;
    try {
      options.set(name, value);
      Options again = options;
      again.set(name, options.get(name));
      check(again == options, "an option that is read and set again stays as it is");
    } catch (const ConfigurationError&) {
      check(before == options, "a value that is refused changes nothing");
    }
  }
  validate(options);
}

// Lines NAME=value; all names begin as those of the libraries do.
void read_environment(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(text)) {
    const auto [name, value] = assignment(line);
    const bool is_ours = name.starts_with("LAPSE_") || name.starts_with("ADAPM_");
    names.push_back(is_ours ? name : "LAPSE_" + name);
    if (::setenv(names.back().c_str(), value.c_str(), 1) != 0) names.pop_back();
  }
  try {
    validate(adapm::Options::from_environment());
  } catch (const ConfigurationError&) {
    // Refused.
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

template <class Options>
void parse(const std::vector<std::string>& arguments) {
  CLI::App app;
  Options options;
  apps::add_options(app, options);
  // The parser takes them from the last on.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    check(error.what() != nullptr, "an error has a message");
  }
}

// A line is an argument. Files of options that it names are not read.
template <class Options>
void read_command_line(const std::string& text) {
  std::vector<std::string> arguments = lines_of(text);
  std::erase_if(arguments, [](const std::string& argument) { return argument.starts_with("--config"); });
  parse<Options>(arguments);
}

void read_config(const std::string& text) {
  static const FuzzFile file;
  parse<apps::KnowledgeGraphOptions>({"--config", file.write(text)});
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  FuzzInput input(data, size);
  const std::uint8_t choice = input.byte() % 7;
  const std::string text = input.rest();
  switch (choice) {
    case 0:
      set_by_name<lapse::Options>(text);
      break;
    case 1:
      set_by_name<adapm::Options>(text);
      break;
    case 2:
      read_environment(text);
      break;
    case 3:
      read_command_line<lapse::apps::MatrixFactorizationOptions>(text);
      break;
    case 4:
      read_command_line<lapse::apps::KnowledgeGraphOptions>(text);
      break;
    case 5:
      read_command_line<lapse::apps::WordVectorsOptions>(text);
      break;
    default:
      read_config(text);
      break;
  }
  return 0;
}
