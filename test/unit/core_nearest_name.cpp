// Suggestions for misspelled names.
#include "lapse/core/options/nearest_name.hpp"

#include <array>

#include "test/support/catch.hpp"

namespace {
constexpr std::array<std::string_view, 5> kKnown{"progress_spin", "progress_sleep_min", "helping",
                                                 "eager_buffers", "eager_bytes"};
}

TEST_CASE("the nearest name is found") {
  CHECK(lapse::nearest_name("eager_byte", kKnown, 2) == "eager_bytes");
  CHECK(lapse::nearest_name("eager_bffers", kKnown, 2) == "eager_buffers");
  CHECK(lapse::nearest_name("helpign", kKnown, 2) == "helping");
  CHECK(lapse::nearest_name("helping", kKnown, 2) == "helping");
}

TEST_CASE("of names that are equally near, the first in alphabetical order is found") {
  constexpr std::array<std::string_view, 2> known{"rate_b", "rate_a"};
  CHECK(lapse::nearest_name("rate_c", known, 2) == "rate_a");
}

TEST_CASE("names without a resemblance are not suggested") {
  CHECK(lapse::nearest_name("zzzzzzzz", kKnown, 2).empty());
  CHECK(lapse::nearest_name("", kKnown, 2).empty());
  CHECK(lapse::did_you_mean("zzzzzzzz", kKnown).empty());
}

TEST_CASE("a suggestion is a question") {
  CHECK(lapse::did_you_mean("eager_byte", kKnown) == " (did you mean 'eager_bytes'?)");
}

TEST_CASE("a misspelled name differs in less than a third of its characters") {
  CHECK(lapse::nearest_name("helpign", kKnown, 3) == "helping");
  CHECK(lapse::nearest_name("eager_byte", kKnown, 3) == "eager_bytes");
  CHECK(lapse::nearest_name("help", kKnown, 3).empty());
  CHECK(lapse::nearest_name("eagerness", kKnown, 3).empty());
  CHECK(lapse::nearest_name("", kKnown, 3).empty());
}
