// The option that names keys to trace, and the names of role changes.
#include "adapm/tracing/traced_keys.hpp"

#include <set>
#include <string>

#include "adapm/options.hpp"
#include "adapm/tracing/key_trace.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using adapm::traced_keys;
using lapse::Key;
using lapse::Role;

TEST_CASE("Traced keys are named by table, each once and in order") {
  CHECK(traced_keys("").empty());
  const auto keys = traced_keys("factors:7,5,7;odd:name:18446744073709551615;biases:0");
  REQUIRE(keys.size() == 3);
  CHECK(keys.at("factors") == std::vector<Key>{Key(5), Key(7)});
  CHECK(keys.at("odd:name") == std::vector<Key>{Key(~std::uint64_t{0})});
  CHECK(keys.at("biases") == std::vector<Key>{Key(0)});
  CHECK(traced_keys("a:1;a:0").at("a") == std::vector<Key>{Key(0), Key(1)});
}

TEST_CASE("What names no keys is refused, with what was expected") {
  for (const std::string text : {"factors", ":5", "factors:", "factors:5,", "factors:x", "factors:5;", "a:-1",
                                 "a:5 6", "a:99999999999999999999", ";"}) {
    INFO(text);
    adapm::Options options;
    options.set("trace_keys", text);
    CHECK_THROWS_WITH(options.validate(),
                      Catch::Matchers::Contains("trace_keys") && Catch::Matchers::Contains("table:key,key"));
  }
  adapm::Options options;
  options.trace_keys = "a:1";
  options.validate();
  options.trace_file = "";
  CHECK_THROWS_WITH(options.validate(), Catch::Matchers::Contains("trace_file"));
}

TEST_CASE("Changes of roles have names that say what has happened to the key") {
  using adapm::role_change_name;
  CHECK(role_change_name(Role::absent, Role::arriving) == "key_requested");
  CHECK(role_change_name(Role::replica, Role::upgrading) == "key_requested");
  CHECK(role_change_name(Role::arriving, Role::owner) == "key_arrived");
  CHECK(role_change_name(Role::owner, Role::absent) == "key_left");
  CHECK(role_change_name(Role::owner, Role::replica) == "key_left_copy_stays");
  CHECK(role_change_name(Role::absent, Role::awaiting) == "copy_requested");
  CHECK(role_change_name(Role::awaiting, Role::replica) == "copy_set_up");
  CHECK(role_change_name(Role::awaiting, Role::absent) == "no_copy");
  CHECK(role_change_name(Role::replica, Role::closing) == "copy_dropped");
  CHECK(role_change_name(Role::closing, Role::absent) == "copy_gone");
  CHECK(role_change_name(Role::upgrading, Role::arriving) == "copy_merged");
}
