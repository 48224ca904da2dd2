// Which keys the domain wants, and what the policy says about them.
#pragma once

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/management_policy.hpp"
#include "lapse/protocol/table/table_copies.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock; set_policy between phases.
class KeyWants {
 public:
  // The policy outlives its use. Without one: announce, and offer.
  void set_policy(const ManagementPolicy* policy) { policy_ = policy; }

  // Whether the domain wants the key, and has not been refused a replica.
  static bool wants(const TableShard& table, Key key) LAPSE_REQUIRES(progress_role);
  // There is no room for a replica of a key that the domain wants: the key stays where it is.
  static void decline(TableShard& table, Key key) LAPSE_REQUIRES(progress_role);

  // What is done about an absent key that the domain begins to want.
  ManagementPolicy::Wanted step_of(const TableShard& table, Key key) const LAPSE_REQUIRES(progress_role) {
    if (policy_ == nullptr) return ManagementPolicy::Wanted::announce;
    const TableCopies* const copies = table.copies();
    return policy_->wanted(table.id(), key, copies != nullptr && copies->sole_wants().likely());
  }
  // Whether the owner gives the key to the only domain that wants it.
  bool offers(const TableShard& table, Key key, ManagementPolicy::Change change) const {
    return policy_ == nullptr ||
           policy_->decide(table.id(), key, change) == ManagementPolicy::Decision::offer;
  }
  // Whether an owner that wants the key keeps a replica when it gives it away.
  bool keeps(const TableShard& table, Key key) const {
    return policy_ == nullptr || policy_->keeps(table.id(), key);
  }

 private:
  const ManagementPolicy* policy_ = nullptr;
};

}  // namespace lapse
