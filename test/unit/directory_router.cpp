#include "lapse/directory/router.hpp"

#include <string>
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/key_presence.hpp"

using lapse::Domain;
using lapse::KeyView;
using lapse::Pin;
using lapse::Route;
using lapse::Router;
using Action = lapse::Route::Action;
using lapse::test::Presence;
using lapse::test::set_presence;
using lapse::test::with_presence;

namespace {

const Domain kLocal{1};
const Domain kRemote{2};
const Domain kThird{3};

KeyView away_from_home(Presence presence, std::optional<Domain> hint = std::nullopt) {
  return with_presence(presence, {.home = kRemote, .self = kLocal, .owner_by_table = {}, .hint = hint});
}
KeyView at_home(Presence presence, Domain owner) {
  return with_presence(presence, {.home = kLocal, .self = kLocal, .owner_by_table = owner, .hint = {}});
}

std::string text(const Route& route) {
  switch (route.action) {
    case Action::execute:
      return "execute";
    case Action::queue:
      return "queue";
    case Action::hold:
      return "hold";
    case Action::illegal:
      return "illegal";
    case Action::send:
      break;
  }
  return "send to " + std::to_string(route.to.value()) + (route.by_home ? " by home" : "") +
         (route.is_entry ? " cached" : "");
}

std::string own(const KeyView& view, const Pin& pin = {}) {
  return text(Router().route_own(view, pin));
}
std::string received(const KeyView& view, bool by_home) {
  return text(Router().route_received(view, by_home));
}

const Pin kInFlightByHome{.unanswered = 2, .entry = std::nullopt, .redirected = false};
const Pin kInFlightByCache{.unanswered = 1, .entry = kThird, .redirected = false};
const Pin kRedirected{.unanswered = 1, .entry = kThird, .redirected = true};

}  // namespace

TEST_CASE("Own operations away from home, nothing in flight") {
  CHECK(own(away_from_home(Presence::owner)) == "execute");
  CHECK(own(away_from_home(Presence::arriving)) == "queue");
  CHECK(own(away_from_home(Presence::absent)) == "send to 2");
  CHECK(own(away_from_home(Presence::absent, kThird)) == "send to 3 cached");
  // A hint that names the home is no cached location: the entry is the home.
  CHECK(own(away_from_home(Presence::absent, kRemote)) == "send to 2");
}

TEST_CASE("Own operations away from home follow those in flight by the home") {
  CHECK(own(away_from_home(Presence::owner), kInFlightByHome) == "execute");
  CHECK(own(away_from_home(Presence::arriving), kInFlightByHome) == "queue");
  CHECK(own(away_from_home(Presence::absent), kInFlightByHome) == "send to 2");
  // An operation sent to the cached location would overtake them.
  CHECK(own(away_from_home(Presence::absent, kThird), kInFlightByHome) == "send to 2");
}

TEST_CASE("What is called while operations are held waits too, whatever has become of the key") {
  for (const bool serves : {true, false}) {
    KeyView unknown = away_from_home(Presence::absent);
    unknown.serves = serves;
    KeyView known = unknown;
    known.hint = kThird;
    KeyView here = unknown;
    set_presence(here, Presence::owner);
    for (const KeyView& view : {unknown, known, here})
      CHECK(own(view, {.unanswered = 0, .entry = {}, .redirected = false, .holds = true}) == "hold");
  }
}

TEST_CASE("Own operations follow those in flight by a cached location, wherever the key is now") {
  for (const Presence presence : {Presence::absent, Presence::owner, Presence::arriving}) {
    CHECK(own(away_from_home(presence), kInFlightByCache) == "send to 3 cached");
    CHECK(own(away_from_home(presence, kRemote), kInFlightByCache) == "send to 3 cached");
    CHECK(own(away_from_home(presence), kRedirected) == "hold");
    CHECK(own(away_from_home(presence, kThird), kRedirected) == "hold");
  }
}

TEST_CASE("A pin without unanswered operations pins nothing") {
  Pin pin = kRedirected;
  pin.unanswered = 0;
  CHECK(own(away_from_home(Presence::owner), pin) == "execute");
  CHECK(own(away_from_home(Presence::absent), pin) == "send to 2");
}

TEST_CASE("The home routes by its table; its own role decides only when it is the owner itself") {
  for (const Pin& pin : {Pin{}, kInFlightByHome}) {
    CHECK(own(at_home(Presence::owner, kLocal), pin) == "execute");
    CHECK(own(at_home(Presence::arriving, kLocal), pin) == "queue");
    CHECK(own(at_home(Presence::absent, kLocal), pin) == "illegal");
    for (const Presence presence : {Presence::absent, Presence::owner, Presence::arriving}) {
      CHECK(own(at_home(presence, kThird), pin) == "send to 3 by home");
    }
  }
}

TEST_CASE("Received operations at the home") {
  for (const bool by_home : {false, true}) {
    CHECK(received(at_home(Presence::owner, kLocal), by_home) == "execute");
    CHECK(received(at_home(Presence::arriving, kLocal), by_home) == "queue");
    CHECK(received(at_home(Presence::absent, kLocal), by_home) == "illegal");
    for (const Presence presence : {Presence::absent, Presence::owner, Presence::arriving}) {
      CHECK(received(at_home(presence, kThird), by_home) == "send to 3 by home");
    }
  }
}

TEST_CASE("Received operations away from home go on to the home and nowhere else") {
  for (const bool by_home : {false, true}) {
    CHECK(received(away_from_home(Presence::owner), by_home) == "execute");
    CHECK(received(away_from_home(Presence::arriving), by_home) == "queue");
  }
  CHECK(received(away_from_home(Presence::absent), false) == "send to 2");
  CHECK(received(away_from_home(Presence::absent, kThird), false) == "send to 2");
  // The home sent the operation to this domain, so the key is local or arriving.
  CHECK(received(away_from_home(Presence::absent), true) == "illegal");
}

// --- ranks that do not serve the key

namespace {

KeyView beside(Presence presence, Domain home, std::optional<Domain> hint = std::nullopt) {
  return with_presence(
      presence, {.home = home, .self = kLocal, .owner_by_table = kThird, .hint = hint, .serves = false});
}

}  // namespace

TEST_CASE("A rank that does not serve the key uses memory or sends: it never queues and asks no table") {
  for (const Domain home : {kLocal, kRemote}) {
    CHECK(own(beside(Presence::owner, home)) == "execute");
    // Arriving, leased, or in memory that this rank cannot address: the serving rank of the own domain
    // decides.
    CHECK(own(beside(Presence::arriving, home)) == "send to 1 cached");
    CHECK(own(beside(Presence::absent, home)) == "send to " + std::to_string(home.value()) + " cached");
    CHECK(own(beside(Presence::absent, home, kThird)) == "send to 3 cached");
  }
}

TEST_CASE("A rank that does not serve the key keeps its entry, and never uses memory meanwhile") {
  for (const Domain entry : {kLocal, kRemote, kThird}) {
    for (const Presence presence : {Presence::absent, Presence::owner, Presence::arriving}) {
      Pin pin{.unanswered = 1, .entry = entry, .redirected = false};
      CHECK(own(beside(presence, kRemote, kThird), pin) ==
            "send to " + std::to_string(entry.value()) + " cached");
      pin.redirected = true;
      CHECK(own(beside(presence, kRemote, kThird), pin) == "hold");
    }
  }
}

TEST_CASE("An answer redirects when it comes from another domain than the entry, unless the home is asked") {
  const KeyView view = away_from_home(Presence::absent);
  CHECK_FALSE(Router::redirects(view, kThird, kThird));
  CHECK(Router::redirects(view, kThird, kRemote));
  CHECK(Router::redirects(view, kThird, kLocal));
  // From the home every route is correct; only the own domain's memory is better.
  CHECK_FALSE(Router::redirects(view, kRemote, kThird));
  CHECK(Router::redirects(view, kRemote, kLocal));
  CHECK_FALSE(Router::redirects(at_home(Presence::absent, kThird), kLocal, kThird));
}

TEST_CASE(
    "A copy that may be touched is used at once, unless operations of the worker are in flight to a remote "
    "rank") {
  for (const bool serves : {true, false}) {
    KeyView view = away_from_home(Presence::absent);
    view.direct = lapse::DirectAccess::copy;
    view.serves = serves;
    CHECK(own(view) == "execute");
    CHECK(own(view, kInFlightByCache) == "send to 3 cached");
    if (serves) CHECK(own(view, kInFlightByHome) != "execute");
    CHECK(received(view, false) == "send to 2");
  }
}

TEST_CASE("Keys that are absent, with nothing in flight, are routed in runs as alone") {
  const std::vector<std::optional<Domain>> hints{std::nullopt, Domain(0), kLocal, kRemote, kThird};
  std::size_t views = 0;
  for (const bool serves : {false, true}) {
    for (std::int32_t home = 0; home < 4; ++home) {
      for (std::int32_t owner = 0; owner < 4; ++owner) {
        for (const std::optional<Domain>& hint : hints) {
          const KeyView view{.direct = lapse::DirectAccess::nothing,
                             .handling = lapse::Handling::forward,
                             .home = Domain(home),
                             .self = kLocal,
                             .owner_by_table = Domain(owner),
                             .hint = hint,
                             .serves = serves};
          // The home has every key that its own table says it owns.
          if (view.at_home() && view.owner_by_table == view.self) {
            CHECK(own(view) == "illegal");
            continue;
          }
          INFO("serves " << serves << ", home " << home << ", owner " << owner << ", hint "
                         << (hint ? hint->value() : -1));
          CHECK(text(Router::route_absent(view)) == own(view));
          ++views;
        }
      }
    }
  }
  CHECK(views == 2 * 4 * 4 * 5 - 5);
}
