// Command lines of an application.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_lines.hpp"

namespace lapse::test {

// `Options`: the options that the application's add_options sets.
template <class Options>
void parse(const std::vector<std::string>& arguments) {
  CLI::App app;
  Options options;
  add_options(app, options);
  // The parser takes arguments from the end.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    check(error.what() != nullptr, "an error has a message");
  }
}

// Each line is an argument. Option files that it names are not read.
template <class Options>
void parse_lines(const std::string& text) {
  std::vector<std::string> arguments = lines_of(text);
  std::erase_if(arguments, [](const std::string& argument) { return argument.starts_with("--config"); });
  parse<Options>(arguments);
}

}  // namespace lapse::test
