// The keys that a rank's workers access in other domains.
#pragma once

#include <new>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/table/wanted_keys.hpp"

namespace lapse {

// For tables of which a domain wants each key that it accesses (ESSP). Each key is reported once.
//
// Thread safety: none.
class AccessedKeys {
 public:
  // An access to the key leaves the domain. If memory cannot be allocated, a later one is noted.
  void note(Key key) noexcept {
    if (has(key)) return;
    try {
      known_.want(std::span(&key, 1), new_);
    } catch (const std::bad_alloc&) {
    }
  }
  bool has(Key key) const { return known_.count(key) > 0; }
  bool any_new() const { return !new_.empty(); }
  // Returns the keys that were noted for the first time since the last call.
  std::vector<Key> take() { return std::exchange(new_, {}); }

 private:
  WantedKeys known_;
  std::vector<Key> new_;
};

}  // namespace lapse
