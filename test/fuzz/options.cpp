// Options of server and manager: by name, in the environment, in files and on command lines.
#include <cstdlib>
#include <string>
#include <vector>

#include "adapm/options.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/options/option_states.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_lines.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

template <class Options>
void validate(const Options& options) {
  try {
    options.validate();
  } catch (const ConfigurationError&) {
    // Two options contradict each other.
  }
  check(!options.to_text().empty(), "options can be printed");
}

// Checks that an option accepts the value that it prints.
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

// Lines NAME=value. All names have the prefixes of the libraries.
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

// Reads an option file. After a line with three dashes, the lines are assignments of a command line.
void read_file(const std::string& text) {
  const std::string_view kCut = "\n---\n";
  const std::size_t cut = text.find(kCut);
  OptionSources sources({});
  for (const std::string& line :
       cut == std::string::npos ? std::vector<std::string>() : lines_of(text.substr(cut + kCut.size()))) {
    try {
      sources.assignments.push_back(option_assignment(line, "--set"));
    } catch (const ConfigurationError&) {
      // Refused.
    }
  }
  try {
    sources.file = OptionsFile{.path = "file", .text = text.substr(0, cut), .problem = {}}.settings();
  } catch (const ConfigurationError& error) {
    check(std::string(error.what()).starts_with("file:"), "an error names the line");
  }
  const std::size_t problems =
      option_states(sources).problems.size() + adapm::option_states(sources).problems.size();
  try {
    validate(adapm::Options::from_environment(sources));
    check(problems == 0, "options with problems are refused");
  } catch (const ConfigurationError&) {
    // Refused.
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  FuzzInput input(data, size);
  const std::uint8_t choice = input.byte() % 4;
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
    default:
      read_file(text);
      break;
  }
  return 0;
}
