// The messages of errors: each names what was wrong, where, and what was expected.
#include "lapse/core/file_error.hpp"
#include "lapse/core/not_finite_update.hpp"

#include "test/support/catch.hpp"

using Catch::Matchers::Equals;

TEST_CASE("errors name table, key, rank and what was expected") {
  CHECK_THAT(lapse::KeyOutOfRange("factors", lapse::Key{10}, 10, lapse::Rank{3}).what(),
             Equals("key 10 of table 'factors' is out of range on rank 3: the table has the keys 0 to 9"));
  CHECK_THAT(lapse::LengthMismatch("factors", "values", 63, 64, lapse::Rank{0}).what(),
             Equals("values for table 'factors' have 63 elements on rank 0: expected 64"));
}

TEST_CASE("an update that is not finite is found by key and element") {
  const lapse::NotFiniteUpdate error("a push", "factors", lapse::Key{10}, 2, -1.0 / 0.0, lapse::Rank{3});
  CHECK(error.key() == lapse::Key{10});
  CHECK(error.element() == 2);
  CHECK(error.where() == lapse::Rank{3});
  CHECK_THAT(
      error.what(),
      Equals("a push to key 10 of table 'factors' on rank 3: element 2 is -inf, and the table refuses what "
             "is not finite; nothing of the call was applied"));
}

TEST_CASE("the failure of a peer keeps its origin and its message") {
  const lapse::PeerFailed error(lapse::Rank{2}, "no such file");
  CHECK(error.origin() == lapse::Rank{2});
  CHECK(error.text() == "no such file");
  CHECK_THAT(error.what(), Equals("rank 2 failed: no such file"));
}

TEST_CASE("a file error names the place as far as it is known") {
  CHECK_THAT(lapse::FileError("a.tsv", "is empty").what(), Equals("a.tsv: is empty"));
  CHECK_THAT(lapse::FileError("a.tsv", "expected a number", 3).what(), Equals("a.tsv:3: expected a number"));
  const lapse::FileError error("a.tsv", "expected a number", 3, 5);
  CHECK_THAT(error.what(), Equals("a.tsv:3:5: expected a number"));
  CHECK(error.line() == 3);
  CHECK(error.column() == 5);
}
