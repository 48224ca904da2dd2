// Suggestions for misspelled names.
#include "lapse/core/options/nearest_names.hpp"

#include <array>

#include "test/support/catch.hpp"

using Names = std::vector<std::string_view>;

namespace {
constexpr std::array<std::string_view, 5> kKnown{"progress_spin", "progress_sleep_min", "helping",
                                                 "eager_buffers", "eager_bytes"};
}

TEST_CASE("near names come closest first") {
  CHECK(lapse::nearest_names("eager_byte", kKnown) == Names{"eager_bytes", "eager_buffers"});
  CHECK(lapse::nearest_names("eager_byte", kKnown, 1) == Names{"eager_bytes"});
  CHECK(lapse::nearest_names("helpign", kKnown) == Names{"helping"});
}

TEST_CASE("names without a resemblance are not suggested") {
  CHECK(lapse::nearest_names("zzzzzzzz", kKnown).empty());
  CHECK(lapse::nearest_names("", kKnown).empty());
  CHECK(lapse::did_you_mean("zzzzzzzz", kKnown).empty());
}

TEST_CASE("a suggestion is a question") {
  CHECK(lapse::did_you_mean("eager_byte", kKnown) == " (did you mean 'eager_bytes' or 'eager_buffers'?)");
}

TEST_CASE("a misspelled name differs in at most a third of its characters") {
  CHECK(lapse::is_misspelled("helping", kKnown));
  CHECK(lapse::is_misspelled("helpign", kKnown));
  CHECK(lapse::is_misspelled("eager_byte", kKnown));
  CHECK_FALSE(lapse::is_misspelled("help", kKnown));
  CHECK_FALSE(lapse::is_misspelled("eagerness", kKnown));
  CHECK_FALSE(lapse::is_misspelled("", kKnown));
}
