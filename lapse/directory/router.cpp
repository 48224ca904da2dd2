#include "lapse/directory/router.hpp"

namespace lapse {

Route Router::route_in_domain(const KeyView& view) {
  switch (view.handling) {
    case Handling::execute:
      return Route::execute();
    case Handling::queue:
      return Route::queue();
    case Handling::relay:
    case Handling::forward:
      break;
  }
  return Route::illegal();
}

Route Router::route_at_home(const KeyView& view) {
  return view.owner_by_table == view.self ? route_in_domain(view) : Route::send_by_home(view.owner_by_table);
}

Route Router::route_beside(const KeyView& view) {
  if (view.direct != DirectAccess::nothing) return Route::execute();
  if (view.handling != Handling::forward) return Route::send_to_entry(view.self);
  return Route::send_to_entry(view.hint.value_or(view.home));
}

bool Router::redirects(const KeyView& view, Domain entry, Domain responder) {
  // The home has the ownership table and always finds the owner; but the rank's own domain's memory is
  // nearer.
  return entry != responder && (entry != view.home || responder == view.self);
}

Route Router::route_own(const KeyView& view, const Pin& pin) const {
  if (pin.holds) return Route::hold();
  if (pin.unanswered > 0 && pin.entry) {
    return pin.redirected ? Route::hold() : Route::send_to_entry(*pin.entry);
  }
  if (view.direct == DirectAccess::copy && pin.unanswered == 0) return Route::execute();
  if (!view.serves) return route_beside(view);
  if (view.at_home()) return route_at_home(view);
  if (view.handling == Handling::relay) return Route::send_to_home(view.home);
  if (view.handling != Handling::forward) return route_in_domain(view);
  // The cache may be used only while nothing is in flight by the home; the home itself is no cached location.
  if (pin.unanswered == 0 && view.hint && *view.hint != view.home) return Route::send_to_entry(*view.hint);
  return Route::send_to_home(view.home);
}

Route Router::route_received(const KeyView& view, bool by_home) const {
  if (view.at_home()) return route_at_home(view);
  if (view.handling == Handling::execute || view.handling == Handling::queue) return route_in_domain(view);
  return by_home ? Route::illegal() : Route::send_to_home(view.home);
}

}  // namespace lapse
