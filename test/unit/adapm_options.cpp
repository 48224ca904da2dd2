#include "adapm/options.hpp"

#include <cmath>
#include <string>

#include "lapse/core/error.hpp"
#include "lapse/core/option_sources.hpp"
#include "test/support/catch.hpp"
#include "test/support/environment_variable.hpp"

using adapm::Options;
using adapm::Technique;
using Catch::Matchers::Contains;
using lapse::ConfigurationError;
using lapse::test::EnvironmentVariable;

TEST_CASE("Options of a manager are set by name and printed") {
  Options options;
  CHECK(options.technique == Technique::adaptive);
  CHECK(options.get("nups_factor") == "100");
  CHECK(options.get("timing_quantile") == "0.9999");
  options.set("technique", "static_partitioning");
  options.set("nups_factor", "0.5");
  options.set("timing_initial_rate", "1e3");
  CHECK(options.technique == Technique::static_partitioning);
  CHECK(options.nups_factor == 0.5);
  CHECK(options.timing.initial_rate == 1000);
  CHECK_THAT(options.to_text(), Contains("technique = static_partitioning (default adaptive)\n") &&
                                    Contains("timing_initial_rate = 1000 clocks (default 10)\n") &&
                                    Contains("max_rounds_per_second = 0 rounds\n"));
  for (const char* name : {"adaptive", "immediate", "relocation_only", "replication_only", "nups",
                           "full_replication", "static_partitioning", "localize"}) {
    options.set("technique", name);
    CHECK(options.get("technique") == name);
  }
  CHECK(options.get("sampling_scheme") == "prelocalised");
  for (const char* name : {"naive", "prelocalised", "pool", "local"}) {
    options.set("sampling_scheme", name);
    CHECK(options.get("sampling_scheme") == name);
  }
}

TEST_CASE("Impossible values of a manager's options are refused and change nothing") {
  Options options;
  const auto refuses = [&](const char* name, const char* value, const char* expected) {
    CHECK_THROWS_AS(options.set(name, value), ConfigurationError);
    CHECK_THROWS_WITH(options.set(name, value), Contains(name) && Contains(value) && Contains(expected));
    CHECK(options == Options{});
  };
  refuses("technique", "magic", "adaptive, immediate, relocation_only");
  refuses("sampling_scheme", "any", "naive, prelocalised, pool, local");
  refuses("sampling_pool_keys", "0", "1 to 1000000000");
  refuses("sampling_pool_uses", "0", "1 to 1000000000");
  refuses("nups_factor", "-1", "0 to 1000000000");
  refuses("nups_factor", "nan", "0 to 1000000000");
  refuses("nups_factor", "ten", "number");
  refuses("nups_factor", "1,5", "number");
  refuses("timing_smoothing", "1.01", "0 to 1");
  refuses("max_rounds_per_second", "1.5", "whole number");
  CHECK_THROWS_WITH(options.set("tecnique", "nups"), Contains("did you mean 'technique'"));
}

TEST_CASE("Fields of a manager's options that contradict their range are found") {
  Options options;
  CHECK_NOTHROW(options.validate());
  for (const double quantile : {0.0, 1.0, -3.0, std::nan("")}) {
    options.timing.quantile = quantile;
    CHECK_THROWS_WITH(options.validate(), Contains("timing_quantile"));
  }
  options = {};
  options.nups_factor = std::nan("");
  CHECK_THROWS_AS(options.validate(), ConfigurationError);
  options = {};
  options.technique = static_cast<Technique>(17);
  CHECK_THROWS_WITH(options.validate(), Contains("technique"));
  options = {};
  options.server.eager_buffers = 0;
  CHECK_THROWS_WITH(options.validate(), Contains("eager_buffers"));
}

TEST_CASE("The environment sets the options of a manager and of its server") {
  const EnvironmentVariable technique("ADAPM_TECHNIQUE", "nups");
  const EnvironmentVariable factor("ADAPM_NUPS_FACTOR", "12.5");
  const EnvironmentVariable buffers("LAPSE_EAGER_BUFFERS", "128");
  const EnvironmentVariable other("ADAPM_DATA_SET", "x");
  const EnvironmentVariable installation("ADAPM_HOME", "/opt/adapm");
  const Options options = Options::from_environment();
  CHECK(options.technique == Technique::nups);
  CHECK(options.nups_factor == 12.5);
  CHECK(options.server.eager_buffers == 128);
  CHECK(options.server.ignored_variables == std::vector<std::string>{"ADAPM_DATA_SET"});
  {
    const EnvironmentVariable wrong("ADAPM_TECHNIQE", "nups");
    CHECK_THROWS_WITH(Options::from_environment(), Contains("did you mean 'ADAPM_TECHNIQUE'"));
  }
  {
    const EnvironmentVariable wrong("ADAPM_TIMING_QUANTILE", "1");
    CHECK_THROWS_AS(Options::from_environment(), ConfigurationError);
  }
  const lapse::OptionSources sources({{.name = "adapm.technique", .value = "localize", .place = "file:1"},
                                      {.name = "adapm.sampling_pool_keys", .value = "7", .place = "file:2"},
                                      {.name = "lapse.eager_buffers", .value = "9", .place = "file:3"},
                                      {.name = "lapse.stall_report", .value = "9", .place = "file:4"}},
                                     {{.name = "adapm.nups_factor", .value = "3", .place = "--set"}});
  const Options all = Options::from_environment(sources);
  CHECK(all.technique == Technique::nups);
  CHECK(all.sampling_pool_keys == 7);
  CHECK(all.nups_factor == 3);
  CHECK(all.server.eager_buffers == 128);
  CHECK(all.server.get("stall_report") == "9");
  CHECK(adapm::option_states(sources).problems.empty());
  CHECK_THROWS_WITH(Options::from_environment(lapse::OptionSources({{"adapm.tecnique", "nups", "file:1"}})),
                    Contains("file:1: there is no option 'tecnique'"));
  const EnvironmentVariable wrong("ADAPM_MAX_ROUNDS_PER_SECOND", "many");
  CHECK_THROWS_WITH(Options::from_environment(),
                    Contains("environment variable ADAPM_MAX_ROUNDS_PER_SECOND") && Contains("'many'"));
}
