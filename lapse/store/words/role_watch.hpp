// Learns of role changes of keys.
#pragma once

#include <utility>

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// One per table. Thread safety: called by the holder of the serving rank's progress lock, perhaps with the
// key's latch: it must not wait for another thread.
class RoleWatch {
 public:
  // The role of a key that this rank serves has changed.
  virtual void changed(Key key, Role before, Role after) noexcept = 0;

 protected:
  ~RoleWatch() = default;
};

class WatchedRoles {
 public:
  // Call while no engine runs. The watch must outlive the engine. Returns the one before, which the new one
  // must notify; null: none.
  RoleWatch* set_role_watch(RoleWatch* watch) { return std::exchange(role_watch_, watch); }

 protected:
  void role_changed(Key key, Role before, Role after) const {
    if (role_watch_ != nullptr) [[unlikely]]
      role_watch_->changed(key, before, after);
  }

 private:
  RoleWatch* role_watch_ = nullptr;
};

}  // namespace lapse
