// Whether a domain has a key, for tests of routing.
#pragma once

#include "lapse/directory/router.hpp"

namespace lapse::test {

// The state of a key in a domain, for a rank that can address the key's slot unless it is `arriving`.
enum class Presence : std::uint8_t { absent, owner, arriving };

inline void set_presence(KeyView& view, Presence presence) {
  view.direct = presence == Presence::owner ? DirectAccess::main : DirectAccess::nothing;
  view.handling = presence == Presence::absent  ? Handling::forward
                  : presence == Presence::owner ? Handling::execute
                                                : Handling::queue;
}

inline KeyView with_presence(Presence presence, KeyView view) {
  set_presence(view, presence);
  return view;
}

}  // namespace lapse::test
