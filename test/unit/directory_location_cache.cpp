#include "lapse/directory/location_cache.hpp"

#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::LocationCache;

TEST_CASE("A cache that is on uses hints and stores who answered, except at home and locally") {
  const LocationCache cache(true);
  CHECK(cache.enabled());
  CHECK(cache.look_up(Domain(3)) == Domain(3));
  CHECK_FALSE(cache.look_up(std::nullopt).has_value());
  CHECK(cache.should_remember(Domain(3), Domain(1), false));
  CHECK_FALSE(cache.should_remember(Domain(1), Domain(1), false));
  CHECK_FALSE(cache.should_remember(Domain(3), Domain(1), true));
}

TEST_CASE("A cache that is off stores nothing") {
  const LocationCache cache(false);
  CHECK_FALSE(cache.enabled());
  CHECK_FALSE(cache.look_up(Domain(3)).has_value());
  CHECK_FALSE(cache.should_remember(Domain(3), Domain(1), false));
}
