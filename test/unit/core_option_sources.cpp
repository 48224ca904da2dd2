// Options from files and command lines: what is read, what is refused, and which source has precedence.
#include "lapse/core/option_sources.hpp"

#include <filesystem>
#include <fstream>

#include "lapse/core/error.hpp"
#include "lapse/core/options/option_states.hpp"
#include "test/support/catch.hpp"
#include "test/support/environment_variable.hpp"

using Catch::Matchers::Contains;
using lapse::ConfigurationError;
using lapse::option_assignment;
using lapse::Options;
using lapse::OptionsFile;
using lapse::OptionSources;
using lapse::test::EnvironmentVariable;

namespace {

OptionSources sources_of(const std::string& text) {
  return OptionSources(OptionsFile{.path = "some.options", .text = text, .problem = {}}.settings());
}

void check_refused(const std::string& text, const std::string& words) {
  CAPTURE(text);
  CHECK_THROWS_AS(Options::from_environment(sources_of(text)), ConfigurationError);
  CHECK_THROWS_WITH(Options::from_environment(sources_of(text)), Contains(words));
}

}  // namespace

TEST_CASE("a file sets options, by lines with names and comments") {
  const Options options = Options::from_environment(sources_of(
      "# all jobs\n\n  lapse.eager_buffers=128 # more\r\n\tlapse.rma = off\nadapm.trace_file = a#b"));
  CHECK(options.eager_buffers == 128);
  CHECK(options.rma == lapse::RmaChoice::off);
  CHECK(Options::from_environment(sources_of("")) == Options{});
  CHECK(Options::from_environment(sources_of("\xEF\xBB\xBF"
                                             "lapse.rma = off\r\n"))
            .rma == lapse::RmaChoice::off);
  CHECK(Options::from_environment(sources_of("\xEF\xBB\xBF")) == Options{});
  const auto settings = sources_of("\nadapm.trace_file = a#b #c\nadapm.trace_keys =").file;
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].name == "adapm.trace_file");
  CHECK(settings[0].value == "a#b");
  CHECK(settings[0].place == "some.options:2");
  CHECK(settings[1].value.empty());
}

TEST_CASE("what is wrong in a file is named with its line") {
  check_refused("\nlapse.eager_buffer = 3",
                "some.options:2: there is no option 'eager_buffer' (did you mean");
  check_refused("lapse.eager_buffers = many", "some.options:1: option eager_buffers cannot be 'many'");
  check_refused("lapse.eager_buffers", "some.options:1: 'lapse.eager_buffers' sets no option");
  check_refused("eager_buffers = 3", "some.options:1: 'eager_buffers' is no option: expected a name that");
  check_refused("lapse.rma = on\n\nlapse.rma = on", "some.options:3: lapse.rma is set in line 1 already");
  check_refused("lapse.progress_sleep_max = 1", "exceeds progress_sleep_max");
  check_refused("= 3", "expected a name");
  check_refused(
      "\xEF\xBB\xBF"
      "lapse.eager_buffer = 3",
      "some.options:1: there is no option 'eager_buffer'");
}

TEST_CASE("a file that cannot be read is refused") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const auto problem_of = [](const std::string& path) { return OptionsFile::read(path).problem; };
  CHECK_THAT(problem_of((folder / "no such file").string()), Contains("No such file"));
  CHECK_THAT(problem_of(folder.string()), Contains("cannot be read: Is a directory"));
  CHECK_THAT(problem_of("/dev/zero"), Contains("more than 1048576 bytes"));
  const EnvironmentVariable file(OptionsFile::kVariable, "/no/such/file");
  CHECK_THROWS_AS(Options::from_environment(), ConfigurationError);
  CHECK_THROWS_WITH(Options::from_environment(),
                    "file of options /no/such/file: cannot be opened: No such "
                    "file or directory");
}

TEST_CASE("the environment wins over the file, and the command line over both") {
  const std::string path = (std::filesystem::temp_directory_path() / "lapse-core-options").string();
  std::ofstream(path) << "lapse.eager_buffers = 100\nlapse.stall_report = 5\nlapse.domain = 2\n";
  const EnvironmentVariable file(OptionsFile::kVariable, path);
  const EnvironmentVariable variable("LAPSE_STALL_REPORT", "6");
  const EnvironmentVariable second("LAPSE_DOMAIN", "3");
  const Options options = Options::from_environment();
  CHECK(options.get("eager_buffers") == "100");
  CHECK(options.get("stall_report") == "6");
  CHECK(options.ignored_variables.empty());
  const OptionSources sources(OptionsFile::read(path).settings(),
                              {option_assignment("lapse.domain = 4", "--set")});
  CHECK(Options::from_environment(sources).get("domain") == "4");

  const lapse::OptionStates states = lapse::option_states(sources);
  CHECK(states.problems.empty());
  const auto origin = [&](std::string_view name) {
    for (const lapse::OptionState& option : states.options)
      if (option.name == name) return option.value + " of " + option.origin;
    return std::string("none");
  };
  CHECK(origin("lapse.eager_buffers") == "100 of " + path + ":1");
  CHECK(origin("lapse.stall_report") == "6 of environment");
  CHECK(origin("lapse.domain") == "4 of --set");
  CHECK(origin("lapse.helping") == "on of default");
  std::filesystem::remove(path);
}

TEST_CASE("all problems are found at once") {
  const EnvironmentVariable variable("LAPSE_LOGLEVEL", "info");
  const EnvironmentVariable second("LAPSE_EAGER_BUFFERS", "many");
  const auto states = lapse::option_states(sources_of("lapse.rma = perhaps\nlapse.n = 1"));
  CHECK(states.problems.size() == 4);
  CHECK_THROWS_AS(option_assignment("lapse.rma", "--set"), ConfigurationError);
  CHECK_THROWS_WITH(option_assignment("rma=on", "--set"), Contains("--set: 'rma' is no option"));
}
