#include "lapse/protocol/key/owner_lookups.hpp"

#include "test/support/catch.hpp"
#include "test/support/key_presence.hpp"

using namespace lapse;
using lapse::test::Presence;
using lapse::test::set_presence;
using lapse::test::with_presence;

TEST_CASE("A lookup of the owner is of use for an operation that nothing else routes") {
  const Domain here{1};
  const Domain remote{2};
  const Domain third{3};
  for (const bool serves : {true, false}) {
    KeyView unknown =
        with_presence(Presence::absent, {.home = remote, .self = here, .owner_by_table = {}, .hint = {}});
    unknown.serves = serves;
    CHECK(OwnerLookups::are_of_use(unknown, {}));
    // One worker's operations do not wait for another's.
    CHECK_FALSE(OwnerLookups::are_of_use(unknown, {.unanswered = 1, .entry = third}));
    CHECK_FALSE(OwnerLookups::are_of_use(unknown, {.unanswered = 2, .entry = {}}));
    CHECK_FALSE(OwnerLookups::are_of_use(unknown, {.unanswered = 0, .entry = {}, .holds = true}));
    KeyView known = unknown;
    for (const Domain hint : {third, remote}) {
      known.hint = hint;
      CHECK_FALSE(OwnerLookups::are_of_use(known, {}));
    }
    KeyView mine = unknown;
    mine.home = here;
    CHECK_FALSE(OwnerLookups::are_of_use(mine, {}));
    for (const Presence presence : {Presence::owner, Presence::arriving}) {
      KeyView local = unknown;
      set_presence(local, presence);
      CHECK_FALSE(OwnerLookups::are_of_use(local, {}));
    }
  }
}
