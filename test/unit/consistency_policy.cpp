// The names and numbers of consistency policies.
#include <limits>
#include <string>

#include "lapse/consistency/consistency.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using lapse::ConfigurationError;
using lapse::Consistency;
using lapse::ValueBound;

TEST_CASE("policies are read as they are written") {
  for (const std::string text : {"sequential", "eventual", "bsp", "cap(0)", "cap(3)", "ssp(1)", "essp(2)",
                                 "vap(8)", "vap(0.5)", "vap(0.5/sqrt(t))", "vap(0.5/sqrt(t), strong)",
                                 "cvap(2, 0.25)", "cvap(2, 0.25, strong)", "cvap(0, 1e-06/sqrt(t))"}) {
    CHECK(Consistency::parse(text).to_string() == text);
  }
  CHECK(Consistency::parse("asp") == Consistency::eventual);
  CHECK(Consistency::parse("vap(1,strong)") == Consistency::vap({.bound = 1, .strong = true}));
  CHECK(Consistency::parse("cvap(1,2)") == Consistency::cvap(1, {.bound = 2}));
}

TEST_CASE("what is no policy is refused") {
  for (const std::string text : {"",
                                 "cap",
                                 "cap()",
                                 "cap(-1)",
                                 "cap(1.5)",
                                 "cap(1",
                                 "cap(4294967296)",
                                 "ssp",
                                 "ssp()",
                                 "essp(x)",
                                 "vap()",
                                 "vap(0)",
                                 "vap(-1)",
                                 "vap(nan)",
                                 "vap(inf)",
                                 "vap(strong)",
                                 "vap(1, weak)",
                                 "vap(1, )",
                                 "vap(1/sqrt(x))",
                                 "vap(/sqrt(t))",
                                 "cvap(1)",
                                 "cvap(1, )",
                                 "cvap(, 1)",
                                 "cvap(1, 0)",
                                 "cvap(x, 1)",
                                 "bsp(1)"}) {
    INFO(text);
    CHECK_THROWS_AS(Consistency::parse(text), ConfigurationError);
  }
  for (const double bound :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(Consistency::vap({.bound = bound}), ConfigurationError);
    CHECK_THROWS_AS(Consistency::cvap(1, {.bound = bound}), ConfigurationError);
  }
}

TEST_CASE("each policy has its bounds") {
  CHECK_FALSE(Consistency::eventual.staleness());
  CHECK(Consistency::bsp.staleness() == 0U);
  CHECK(Consistency::essp(2).staleness() == 2U);
  CHECK(Consistency::ssp(2).staleness() == 2U);
  CHECK_FALSE(Consistency::ssp(2).may_have_copies());
  CHECK(Consistency::ssp(2).caches_reads());
  CHECK_FALSE(Consistency::vap({.bound = 1}).staleness());
  CHECK(Consistency::cvap(3, {.bound = 1}).staleness() == 3U);
  CHECK_FALSE(Consistency::cap(1).value_bound());
  CHECK(Consistency::vap({.bound = 2, .decays = true}).value_bound() == ValueBound{2, true});
  CHECK(Consistency::cvap(0, {.bound = 2}).value_bound() == ValueBound{2, false});
  CHECK(Consistency::vap({.bound = 2, .strong = true}).value_bound()->strong);
  CHECK(Consistency::bsp.sends_at_clocks());
  CHECK_FALSE(Consistency::cap(0).sends_at_clocks());
  CHECK(Consistency::essp(1).replicates_accessed());
}
