// The table of options: reading, printing, ranges, the environment.
#include "lapse/core/options/option_states.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/support/environment_variable.hpp"

using Catch::Matchers::Contains;
using lapse::ConfigurationError;
using lapse::Options;
using lapse::test::EnvironmentVariable;
using namespace std::chrono_literals;

namespace {

std::vector<lapse::OptionState> all_options() {
  return lapse::option_states(lapse::OptionSources({})).options;
}

}  // namespace

TEST_CASE("every option prints what it reads") {
  const Options defaults;
  for (const lapse::OptionState& option : all_options()) {
    Options options;
    const std::string name = option.name.substr(std::string("lapse.").size());
    options.set(name, defaults.get(name));
    CHECK(options == defaults);
    CHECK(option.default_value == defaults.get(name));
    CHECK_FALSE(option.meaning.empty());
    CHECK_FALSE(option.values.empty());
  }
  CHECK(defaults == Options::from_environment());
}

TEST_CASE("options are set by name") {
  Options options;
  options.set("location_caches", "off");
  options.set("max_outstanding_operations", "1");
  options.set("max_outstanding_bytes", "8589934592");
  options.set("helping", "off");
  options.set("progress_sleep_max", "2500");
  options.set("stall_report", "0");
  options.set("log_level", "debug");
  options.set("startup_report", "false");
  CHECK_FALSE(options.location_caches);
  CHECK(options.max_outstanding_operations == 1);
  CHECK(options.max_outstanding_bytes == std::uint64_t{8} << 30U);
  CHECK(options.helping == lapse::Helping::off);
  CHECK(options.progress_sleep_max == 2500us);
  CHECK(options.stall_report == 0s);
  CHECK(options.log_level == lapse::LogLevel::debug);
  CHECK_FALSE(options.startup_report);
  CHECK(options.get("startup_report") == "off");
  CHECK(options.get("progress_sleep_max") == "2500");
}

TEST_CASE("impossible values are refused and change nothing") {
  Options options;
  const auto refuses = [&](const char* name, const char* value, const char* expected) {
    CHECK_THROWS_AS(options.set(name, value), ConfigurationError);
    CHECK_THROWS_WITH(options.set(name, value), Contains(name) && Contains(value) && Contains(expected));
    CHECK(options == Options{});
  };
  refuses("max_outstanding_operations", "0", "from 1 to 1048576");
  refuses("max_outstanding_operations", "1048577", "from 1 to 1048576");
  refuses("max_outstanding_operations", "99999999999999999999999", "from 1 to 1048576");
  refuses("max_outstanding_operations", "-1", "whole number");
  refuses("max_outstanding_operations", "", "whole number");
  refuses("max_outstanding_operations", "12 ", "whole number");
  refuses("max_outstanding_bytes", "1e9", "in bytes");
  refuses("progress_spin", "200us", "in us");
  refuses("stall_report", "1.5", "in s");
  refuses("helping", "maybe", "on, off");
  refuses("log_level", "loud", "error, warning, info, debug");
  refuses("location_caches", "2", "on, off");
}

TEST_CASE("unknown names are refused with the nearest known ones") {
  Options options;
  CHECK_THROWS_AS(options.set("eager_byte", "1"), ConfigurationError);
  CHECK_THROWS_WITH(options.set("eager_byte", "1"),
                    Contains("no option 'eager_byte'") && Contains("did you mean 'eager_bytes'"));
  CHECK_THROWS_AS(options.get("helpin"), ConfigurationError);
}

TEST_CASE("fields outside their range and contradictions are found") {
  Options options;
  CHECK_NOTHROW(options.validate());
  options.eager_buffers = 0;
  CHECK_THROWS_WITH(options.validate(), Contains("eager_buffers"));
  options = {};
  options.stall_report = -1s;
  CHECK_THROWS_WITH(options.validate(), Contains("stall_report"));
  options = {};
  options.log_level = static_cast<lapse::LogLevel>(17);
  CHECK_THROWS_WITH(options.validate(), Contains("log_level"));
  options = {};
  options.progress_sleep_min = 2000us;
  CHECK_THROWS_WITH(options.validate(), Contains("progress_sleep_min") && Contains("progress_sleep_max"));
  options = {};
  options.eager_bytes = 1;
  CHECK_THROWS_WITH(options.validate(), Contains("eager_bytes"));
}

TEST_CASE("the environment sets options") {
  const EnvironmentVariable buffers("LAPSE_EAGER_BUFFERS", "128");
  const EnvironmentVariable caches("LAPSE_LOCATION_CACHES", "off");
  const Options options = Options::from_environment();
  CHECK(options.eager_buffers == 128);
  CHECK_FALSE(options.location_caches);
}

TEST_CASE("an empty variable of the environment counts as unset") {
  const Options defaults;
  for (const lapse::OptionState& option : all_options()) {
    CAPTURE(option.variable);
    const EnvironmentVariable empty(option.variable.c_str(), "");
    CHECK(Options::from_environment() == defaults);
  }
  const EnvironmentVariable misspelled("LAPSE_DOMAINS", "");
  CHECK(Options::from_environment() == defaults);
}

TEST_CASE("errors in the environment name the variable") {
  SECTION("unknown") {
    const EnvironmentVariable variable("LAPSE_EAGER_BUFFER", "128");
    CHECK_THROWS_AS(Options::from_environment(), ConfigurationError);
    CHECK_THROWS_WITH(Options::from_environment(),
                      Contains("LAPSE_EAGER_BUFFER") && Contains("did you mean 'LAPSE_EAGER_BUFFERS'"));
  }
  SECTION("impossible value") {
    const EnvironmentVariable variable("LAPSE_EAGER_BUFFERS", "many");
    CHECK_THROWS_WITH(Options::from_environment(), Contains("LAPSE_EAGER_BUFFERS") && Contains("'many'"));
  }
  SECTION("contradiction") {
    const EnvironmentVariable variable("LAPSE_PROGRESS_SLEEP_MAX", "1");
    CHECK_THROWS_AS(Options::from_environment(), ConfigurationError);
  }
}

TEST_CASE("variables of the environment that are near no option are not errors") {
  SECTION("those of an installation are ignored") {
    for (const char* name : {"LAPSE_ROOT", "LAPSE_DIR", "LAPSE_HOME", "LAPSE_PREFIX", "LAPSE_VERSION",
                             "LAPSE_LIB", "LAPSE_INC", "LAPSE_INCLUDE", "LAPSE_BIN", "LAPSE_PATH"}) {
      const EnvironmentVariable variable(name, "/opt/lapse");
      const Options options = Options::from_environment();
      CHECK(options == Options{});
      CHECK_FALSE(lapse::ignored_variables_warning(options));
    }
  }
  SECTION("others are warned of, all in one text") {
    for (const char* name :
         {"LAPSE_COMPILER", "LAPSE_LICENSE_FILE", "LAPSE_MPI", "LAPSE_", "LAPSE_X", "LAPSE_MAIN"}) {
      const EnvironmentVariable variable(name, "x");
      const Options options = Options::from_environment();
      CHECK(options.ignored_variables == std::vector<std::string>{name});
      CHECK(lapse::ignored_variables_warning(options).value_or("") ==
            "the environment variable " + std::string(name) + " belongs to no option and is ignored");
    }
    const EnvironmentVariable first("LAPSE_COMPILER", "gcc");
    const EnvironmentVariable second("LAPSE_MPI", "openmpi");
    const EnvironmentVariable used("LAPSE_EAGER_BUFFERS", "128");
    const Options options = Options::from_environment();
    CHECK(options.eager_buffers == 128);
    CHECK_THAT(lapse::ignored_variables_warning(options).value_or(""),
               Contains("LAPSE_COMPILER") && Contains("LAPSE_MPI") && Contains("are ignored"));
  }
  SECTION("misspelled options are errors") {
    for (const char* name : {"LAPSE_EAGER_BUFER", "LAPSE_DOMAINS", "LAPSE_LOGLEVEL", "LAPSE_rma",
                             "LAPSE_PROGRES_SPIN", "LAPSE_Eager_Bytes", "LAPSE_STALL_REPORTS"}) {
      const EnvironmentVariable variable(name, "1");
      CHECK_THROWS_AS(Options::from_environment(), ConfigurationError);
      CHECK_THROWS_WITH(Options::from_environment(), Contains(name) && Contains("did you mean 'LAPSE_"));
    }
    const EnvironmentVariable variable("LAPSE_DOMAINS", "1");
    CHECK_THROWS_WITH(
        Options::from_environment(),
        "the environment variable LAPSE_DOMAINS belongs to no option (did you mean 'LAPSE_DOMAIN'?)");
  }
}

TEST_CASE("the list of all options marks those that are not the default") {
  Options options;
  options.eager_buffers = 128;
  const std::string text = options.to_text();
  CHECK_THAT(text, Contains("eager_buffers = 128 buffers (default 64)\n"));
  CHECK_THAT(text, Contains("location_caches = on\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == static_cast<std::ptrdiff_t>(all_options().size()));
}

TEST_CASE("the states of options have their names, units and values") {
  const auto options = all_options();
  const auto spin = std::ranges::find(options, "lapse.progress_spin", &lapse::OptionState::name);
  REQUIRE(spin != options.end());
  CHECK(spin->variable == "LAPSE_PROGRESS_SPIN");
  CHECK(spin->unit == "us");
  CHECK(spin->values == "0 to 60000000");
  CHECK(std::ranges::count(options, "on, off", &lapse::OptionState::values) == 4);
  CHECK(std::ranges::count(options, "auto, on, off", &lapse::OptionState::values) == 1);
  CHECK(std::ranges::count(options, "host, rank, or a number of files", &lapse::OptionState::values) == 1);
}

TEST_CASE("the option domain is a word or a number of ranks") {
  using lapse::DomainChoice;
  Options options;
  CHECK(options.get("domain") == "host");
  options.set("domain", "rank");
  CHECK(options.domain == DomainChoice{DomainChoice::Kind::rank, 1});
  CHECK(options.get("domain") == "rank");
  for (const char* number : {"1", "2", "2147483647"}) {
    options.set("domain", number);
    CHECK(options.domain.kind == DomainChoice::Kind::number);
    CHECK(options.get("domain") == number);
  }
  options.set("domain", "host");
  CHECK(options == Options{});
  for (const char* wrong :
       {"", "0", "-2", "2 ", "+2", "2.0", "hosts", "Host", "node", "2147483648", "99999999999999999999"}) {
    CHECK_THROWS_AS(options.set("domain", wrong), ConfigurationError);
    CHECK_THROWS_WITH(options.set("domain", wrong), Contains("domain") &&
                                                        Contains(std::string(wrong).append("': expected")) &&
                                                        Contains("host, rank, or a number of ranks"));
    CHECK(options == Options{});
  }
  // Set in code.
  options.domain = {DomainChoice::Kind::number, 0};
  CHECK_THROWS_AS(options.validate(), ConfigurationError);
  const EnvironmentVariable variable("LAPSE_DOMAIN", "3");
  CHECK(Options::from_environment().domain == DomainChoice{DomainChoice::Kind::number, 3});
}
