// Observes events of keys other than changes of their roles (see RoleWatch).
#pragma once

#include <cstdint>
#include <span>

#include "lapse/core/export.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/operation_kind.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

class TableShard;

enum class AccessKind : std::uint8_t { read, write };

constexpr AccessKind access_kind(OperationKind kind) {
  return is_read(kind) ? AccessKind::read : AccessKind::write;
}

// Where a beginning access finds a key: the main copy or a replica in the domain's memory; nowhere there, so
// that it takes messages; or on its way to the domain, so that it waits.
enum class AccessPlace : std::uint8_t { main, copy, remote, arriving };
LAPSE_EXPORT_INNER AccessPlace place_of_access(const TableShard& table, Key key, Store::Reach reach);

// Must not block.
class KeyObserver {
 public:
  // The domain begins (`on`) or ceases to want keys that this rank serves.
  virtual void wanted(TableId table, std::span<const Key> keys, bool on) LAPSE_REQUIRES(progress_role) = 0;
  // A round of this rank has ended.
  virtual void round_ended() LAPSE_REQUIRES(progress_role) = 0;
  // Likewise, in rounds that send what changes of replicas have added up, before the end.
  virtual void changes_sent() LAPSE_REQUIRES(progress_role) {}
  // A worker of this rank begins a call on the keys. `reach`: which replicas it may use. Any thread.
  virtual void accessed(const TableShard& table, std::span<const Key> keys, Store::Reach reach,
                        AccessKind kind) = 0;

  // A worker of this rank accesses keys that it has leased, in memory. Any thread.
  virtual void leased(const TableShard&, std::span<const Key>, AccessKind) {}

 protected:
  ~KeyObserver() = default;
};

}  // namespace lapse
