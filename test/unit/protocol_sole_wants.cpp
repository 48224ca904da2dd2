#include "lapse/protocol/table/sole_wants.hpp"

#include "test/support/catch.hpp"

using lapse::SoleWants;

TEST_CASE("Keys are likely to be wanted alone once enough of them were") {
  SoleWants wants;
  CHECK_FALSE(wants.likely());
  wants.count_alone(1023);
  CHECK_FALSE(wants.likely());
  wants.count_alone(1);
  CHECK(wants.likely());
}

TEST_CASE("Keys are likely to be wanted alone where three of four were") {
  SoleWants wants;
  wants.count_alone(3000);
  for (int i = 0; i < 1000; ++i) wants.count_shared();
  CHECK(wants.likely());
  wants.count_shared();
  CHECK_FALSE(wants.likely());
  wants.count_alone(3);
  CHECK(wants.likely());
}

TEST_CASE("Keys of long ago do not count") {
  SoleWants wants;
  wants.count_alone(1'000'000'000);
  CHECK(wants.likely());
  // A quarter of the counts in memory, and of those that this makes forgotten.
  int shared = 0;
  for (; wants.likely(); ++shared) wants.count_shared();
  CHECK(shared > 1000);
  CHECK(shared < 8192);
}
