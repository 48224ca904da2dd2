// When a cached location is used, and when it changes.
#pragma once

#include <optional>

#include "lapse/core/types.hpp"

namespace lapse {

// The location that a domain remembers for an absent key is stored in the key's slot word (slot_word.hpp) and
// needs no memory of its own. It changes without extra messages: an answer names the domain that executed, a
// transfer of ownership names the next owner. If it is stale, the operation takes one more hop (Lapse paper,
// section 3.3).
class LocationCache {
 public:
  explicit LocationCache(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }
  // The location to use for routing, given the hint of a slot word.
  std::optional<Domain> look_up(std::optional<Domain> hint) const { return enabled_ ? hint : std::nullopt; }
  // Whether to remember `responder`, which sent an answer. The home needs no cache, as it has the table.
  bool should_remember(Domain responder, Domain self, bool at_home) const {
    return enabled_ && !at_home && responder != self;
  }

 private:
  bool enabled_;
};

}  // namespace lapse
