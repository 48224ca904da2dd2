// Learns of changes of the roles of keys.
#pragma once

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// One for each table. Thread safety: the holder of the serving rank's progress lock calls it, perhaps with
// the latch of the key: it must not wait for another thread.
class RoleWatch {
 public:
  // A key that this rank serves has another role from now on.
  virtual void changed(Key key, Role before, Role after) noexcept = 0;

 protected:
  ~RoleWatch() = default;
};

class WatchedRoles {
 public:
  // While no engine runs. The watch outlives the engine; null: none.
  void set_role_watch(RoleWatch* watch) { role_watch_ = watch; }

 protected:
  void role_changed(Key key, Role before, Role after) const {
    if (role_watch_ != nullptr) [[unlikely]]
      role_watch_->changed(key, before, after);
  }

 private:
  RoleWatch* role_watch_ = nullptr;
};

}  // namespace lapse
