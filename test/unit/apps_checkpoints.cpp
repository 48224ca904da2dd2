// The common parts of the applications' checkpoints: options, the identity of a run, states.
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/common/checkpoint_options.hpp"
#include "apps/common/run_identity.hpp"
#include "apps/common/saved_state.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using Catch::Matchers::Contains;
using lapse::CheckpointInterval;
using lapse::ConfigurationError;
using namespace lapse::apps;
using namespace std::chrono_literals;

TEST_CASE("intervals of checkpoints have units") {
  CHECK(parse_interval("5epochs").epochs == 5);
  CHECK_FALSE(parse_interval("5epochs").time);
  CHECK(parse_interval("1epoch").epochs == 1);
  CHECK(parse_interval("1000clocks").clocks == 1000);
  CHECK(parse_interval("90s").time == 90s);
  CHECK(parse_interval("10minutes").time == 600s);
  CHECK(parse_interval("10m").time == 600s);
  CHECK(parse_interval("1hour").time == 3600s);
  const CheckpointInterval both = parse_interval("2epochs,1h");
  CHECK(both.epochs == 2);
  CHECK(both.time == 3600s);
  const CheckpointInterval never = parse_interval("never");
  CHECK_FALSE((never.epochs || never.clocks || never.time));
  for (const char* wrong : {"", "5", "epochs", "0epochs", "-1epochs", "5 epochs", "5weeks", "5epochs,", "5ss",
                            "1.5h", "99999999999999999999s", "9999999999999999h"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(parse_interval(wrong), Contains("expected such as 5epochs"));
  }
}

TEST_CASE("signals have names") {
  CHECK(parse_signals("USR1,TERM") == std::vector<int>{SIGUSR1, SIGTERM});
  CHECK(parse_signals("SIGUSR2") == std::vector<int>{SIGUSR2});
  CHECK(parse_signals("none").empty());
  for (const char* wrong : {"", "KILL", "USR1,", "10"})
    CHECK_THROWS_WITH(parse_signals(wrong), Contains("expected some of USR1"));
}

TEST_CASE("a run is that of the checkpoint, or the first difference is named") {
  const auto run = [](double rate, bool biases) {
    RunIdentity identity;
    identity.add("--rank", std::uint64_t{16});
    identity.add("--rate", rate);
    identity.add("--biases", biases);
    identity.add("--mode", "fast");
    return identity;
  };
  const Json saved = run(0.1, true).to_json();
  CHECK_NOTHROW(run(0.1, true).require_equal(saved, "step 3 in folder"));
  CHECK_THROWS_AS(run(0.2, true).require_equal(saved, "step 3 in folder"), ConfigurationError);
  CHECK_THROWS_WITH(run(0.2, false).require_equal(saved, "step 3 in folder"),
                    Contains("--rate is 0.2, but 0.1 in the checkpoint") && Contains("step 3 in folder"));
  CHECK_THROWS_WITH(run(0.1, false).require_equal(saved, ""), Contains("--biases is no, but yes"));
  // A field that an earlier release did not save.
  RunIdentity more = run(0.1, true);
  more.add("--dim", std::uint64_t{1});
  CHECK_NOTHROW(more.require_equal(saved, ""));
  CHECK_THROWS_WITH(run(0.1, false).require_equal(more.to_json(), ""), Contains("--biases is no, but yes"));
  // A field that no application saves.
  for (const char* other : {"null", "[]", "{}", "5", "\"text\"", "{\"--rank\": 16}", "{\"--rank\": null}"}) {
    INFO(other);
    CHECK_THROWS_WITH(run(0.1, true).require_equal(parse_state(other), "step 3 in folder"),
                      "step 3 in folder is not the checkpoint of an application");
  }
}

TEST_CASE("the checksum of data depends on each number and their order") {
  const auto checksum = [](std::initializer_list<std::uint64_t> numbers) {
    DataChecksum sum;
    for (const std::uint64_t number : numbers) sum.add(number);
    return sum.value();
  };
  CHECK(checksum({1, 2, 3}) == checksum({1, 2, 3}));
  CHECK(checksum({1, 2, 3}) != checksum({2, 1, 3}));
  CHECK(checksum({1, 2, 3}) != checksum({1, 2, 4}));
  CHECK(checksum({1, 2, 3}) != checksum({1, 2}));
}

TEST_CASE("what a phase has cost is read as it was saved") {
  PhaseCost cost;
  cost.seconds = 0.1;
  cost.accesses.local_pulls = 18446744073709551615U;
  cost.accesses.stale_max_nanoseconds = 7;
  cost.traffic.bytes_sent = 9;
  const PhaseCost read = phase_cost(parse_state(to_json(cost).dump()));
  CHECK(read.seconds == cost.seconds);
  CHECK(read.accesses.local_pulls == cost.accesses.local_pulls);
  CHECK(read.accesses.stale_max_nanoseconds == 7);
  CHECK(read.accesses.operations == 0);
  CHECK(read.traffic.bytes_sent == 9);
  CHECK_THROWS_AS(parse_state("{"), ConfigurationError);
  CHECK_THROWS_AS(read_state([] { static_cast<void>(phase_cost(parse_state("{}"))); }), ConfigurationError);
}
