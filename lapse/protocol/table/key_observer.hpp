// Observes events of keys other than changes of their roles (see RoleWatch).
#pragma once

#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

class TableShard;

// Must not block.
class KeyObserver {
 public:
  // The domain begins (`on`) or ceases to want keys that this rank serves.
  virtual void wanted(TableId table, std::span<const Key> keys, bool on) LAPSE_REQUIRES(progress_role) = 0;
  // A round of this rank has ended.
  virtual void round_ended() LAPSE_REQUIRES(progress_role) = 0;
  // A worker of this rank begins a call on the keys. `reach`: which replicas it may use. Any thread.
  virtual void accessed(const TableShard& table, std::span<const Key> keys, Store::Reach reach) = 0;

 protected:
  ~KeyObserver() = default;
};

}  // namespace lapse
