// Every decision of the router, as a table. docs/relocation.md explains the rules.
#include <ostream>
#include <vector>

#include "lapse/directory/router.hpp"
#include "test/support/catch.hpp"
#include "test/support/key_presence.hpp"

using namespace lapse;

namespace {

using test::Presence;
using Action = Route::Action;

constexpr Domain kSelf{1};
constexpr Domain kHome{2};
constexpr Domain kCached{3};
constexpr Domain kOther{4};

KeyView away_from_home(Presence presence, std::optional<Domain> hint = {}) {
  return test::with_presence(presence, {.home = kHome, .self = kSelf, .owner_by_table = {}, .hint = hint});
}
KeyView at_home(Presence presence, Domain owner) {
  return test::with_presence(presence, {.home = kSelf, .self = kSelf, .owner_by_table = owner, .hint = {}});
}

struct Expected {
  Action action;
  Domain to = {};
  bool by_home = false;
  bool is_entry = false;
};

void check(const Route& route, const Expected& expected) {
  CHECK(static_cast<int>(route.action) == static_cast<int>(expected.action));
  if (expected.action != Action::send) return;
  CHECK(route.to.value() == expected.to.value());
  CHECK(route.by_home == expected.by_home);
  CHECK(route.is_entry == expected.is_entry);
}

const Pin kFree{};
const Pin kPinnedHere{1, {}, false};
const Pin kPinnedToCached{1, kCached, false};
const Pin kRedirected{1, kCached, true};
const std::vector<Pin> kPins{kFree, kPinnedHere, kPinnedToCached, kRedirected};
const Router kRouter;

}  // namespace

TEST_CASE("own operations with nothing unanswered") {
  check(kRouter.route_own(away_from_home(Presence::owner), kFree), {Action::execute});
  check(kRouter.route_own(away_from_home(Presence::arriving), kFree), {Action::queue});
  check(kRouter.route_own(away_from_home(Presence::absent), kFree), {Action::send, kHome});
  check(kRouter.route_own(away_from_home(Presence::absent, kCached), kFree),
        {.action = Action::send, .to = kCached, .by_home = false, .is_entry = true});
  // The home is no cached location: an operation that is sent to the home enters at this domain.
  check(kRouter.route_own(away_from_home(Presence::absent, kHome), kFree), {Action::send, kHome});
  // A stale hint is irrelevant once the key is local.
  check(kRouter.route_own(away_from_home(Presence::owner, kCached), kFree), {Action::execute});
  check(kRouter.route_own(away_from_home(Presence::arriving, kCached), kFree), {Action::queue});
}

TEST_CASE("own operations behind unanswered operations that entered at this domain") {
  check(kRouter.route_own(away_from_home(Presence::owner), kPinnedHere), {Action::execute});
  check(kRouter.route_own(away_from_home(Presence::arriving), kPinnedHere), {Action::queue});
  check(kRouter.route_own(away_from_home(Presence::absent), kPinnedHere), {Action::send, kHome});
  check(kRouter.route_own(away_from_home(Presence::absent, kCached), kPinnedHere), {Action::send, kHome});
}

TEST_CASE("own operations behind unanswered ones that went to a cached location follow them") {
  for (const Presence presence : {Presence::absent, Presence::owner, Presence::arriving}) {
    for (const std::optional<Domain> hint :
         {std::optional<Domain>{}, std::optional(kOther), std::optional(kHome)}) {
      const KeyView view = away_from_home(presence, hint);
      check(kRouter.route_own(view, kPinnedToCached),
            {.action = Action::send, .to = kCached, .by_home = false, .is_entry = true});
      check(kRouter.route_own(view, kRedirected), {Action::hold});
    }
  }
}

TEST_CASE("a pin without unanswered operations binds nothing") {
  const Pin left_over{0, kCached, true};
  check(kRouter.route_own(away_from_home(Presence::owner), left_over), {Action::execute});
  check(kRouter.route_own(away_from_home(Presence::absent), left_over), {Action::send, kHome});
}

TEST_CASE("the home routes by its table and reads its own role only when the table names the home") {
  for (const Presence presence : {Presence::absent, Presence::arriving}) {
    const KeyView view = at_home(presence, kOther);
    for (const Pin& pin : {kFree, kPinnedHere})
      check(kRouter.route_own(view, pin), {.action = Action::send, .to = kOther, .by_home = true});
    for (const bool by_home : {false, true}) {
      check(kRouter.route_received(view, by_home), {.action = Action::send, .to = kOther, .by_home = true});
    }
  }
  const auto both = [](const KeyView& view, const Expected& expected) {
    check(kRouter.route_own(view, kFree), expected);
    check(kRouter.route_received(view, false), expected);
  };
  both(at_home(Presence::owner, kSelf), {Action::execute});
  both(at_home(Presence::arriving, kSelf), {Action::queue});
  both(at_home(Presence::absent, kSelf), {Action::illegal});
}

TEST_CASE("received operations") {
  for (const bool by_home : {false, true}) {
    check(kRouter.route_received(away_from_home(Presence::owner), by_home), {Action::execute});
    check(kRouter.route_received(away_from_home(Presence::arriving), by_home), {Action::queue});
  }
  // Forwarded only to the home, whatever the cache stores.
  check(kRouter.route_received(away_from_home(Presence::absent, kCached), false), {Action::send, kHome});
  // The home routes an operation here only if the key is local or arriving.
  check(kRouter.route_received(away_from_home(Presence::absent), true), {Action::illegal});
}

TEST_CASE("nothing is ever sent to oneself") {
  for (const Presence presence : {Presence::absent, Presence::owner, Presence::arriving}) {
    for (const Pin& pin : kPins) {
      for (const KeyView& view : {away_from_home(presence), away_from_home(presence, kCached),
                                  at_home(presence, kSelf), at_home(presence, kOther)}) {
        const Route own = kRouter.route_own(view, pin);
        CHECK((own.action != Action::send || own.to != kSelf));
        const Route received = kRouter.route_received(view, false);
        CHECK((received.action != Action::send || received.to != kSelf));
      }
    }
  }
}
