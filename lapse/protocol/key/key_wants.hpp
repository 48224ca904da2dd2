// The keys that the domain wants, and the policy for them.
#pragma once

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/management_policy.hpp"
#include "lapse/protocol/table/table_copies.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock; set_policy: between phases.
class KeyWants {
 public:
  // The policy must outlive its use. The default announces keys and offers them.
  void set_policy(const ManagementPolicy* policy) { policy_ = policy; }

  // Whether the domain wants the key and has not been refused a replica.
  static bool wants(const TableShard& table, Key key) LAPSE_REQUIRES(progress_role) {
    const TableCopies* const copies = table.copies();
    return table.wanted().count(key) > 0 && !(copies != nullptr && copies->is_refused(key));
  }
  // Leaves a key that the domain wants where it is, because a replica cannot be allocated.
  static void decline(TableShard& table, Key key) LAPSE_REQUIRES(progress_role) {
    if (table.copies() != nullptr) table.copies()->refuse(key);
    ++table.counters().declined_copies;
  }

  // Returns what to do about an absent key that the domain begins to want.
  ManagementPolicy::Wanted step_of(const TableShard& table, Key key) const LAPSE_REQUIRES(progress_role) {
    if (policy_ == nullptr) return ManagementPolicy::Wanted::announce;
    const TableCopies* const copies = table.copies();
    return policy_->wanted(table.id(), key, copies != nullptr && copies->sole_wants().likely());
  }
  // Whether the owner gives the key to the only domain that wants it. Without a policy, keys that are wanted
  // for their accesses stay where they are: other domains access them, too.
  bool offers(const TableShard& table, Key key) const {
    if (policy_ == nullptr) return !table.definition().wants_accessed;
    return policy_->decide(table.id(), key) == ManagementPolicy::Decision::offer;
  }
  // Whether an owner that wants the key keeps a replica when it gives the key away.
  bool keeps(const TableShard& table, Key key) const {
    return policy_ == nullptr || policy_->keeps(table.id(), key);
  }

 private:
  const ManagementPolicy* policy_ = nullptr;
};

}  // namespace lapse
