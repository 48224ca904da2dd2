// Learns of changes of the roles of keys.
#pragma once

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// One for each table. Thread safety: the holder of the serving rank's progress lock calls it, perhaps with
// the latch of the key: it must not block.
class RoleWatch {
 public:
  // A key that this rank serves has another role from now on.
  virtual void changed(Key key, Role before, Role after) noexcept = 0;

 protected:
  ~RoleWatch() = default;
};

}  // namespace lapse
