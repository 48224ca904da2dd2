// The policy of each technique for keys that domains want.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "adapm/technique.hpp"
#include "lapse/protocol/table/management_policy.hpp"

namespace adapm {

// A policy that knows which tables may have replicas. Other tables may not.
//
// Thread safety: queries: any thread. The rest: the owner's thread, while no engine runs.
class TechniquePolicy : public lapse::ManagementPolicy {
 public:
  void allow_replicas(lapse::TableId table);
  bool may_replicate(lapse::TableId table) const {
    return table.index() < replicated_.size() && replicated_[table.index()];
  }

 private:
  std::vector<bool> replicated_;  // by table
};

// AdaPM (paper, figure 4): a key that exactly one domain wants is relocated there; if several want it, each
// has a replica while it wants the key. A key that cannot be replicated moves to each domain that begins to
// want it.
class AdaptivePolicy final : public TechniquePolicy {
 public:
  Wanted wanted(lapse::TableId table, lapse::Key key, bool likely_alone) const override;
  Decision decide(lapse::TableId table, lapse::Key key) const override;
  bool keeps(lapse::TableId table, lapse::Key key) const override;
};

// AdaPM without replication: a key moves to each domain that begins to want it.
class RelocationPolicy final : public TechniquePolicy {
 public:
  Wanted wanted(lapse::TableId table, lapse::Key key, bool likely_alone) const override;
  Decision decide(lapse::TableId table, lapse::Key key) const override;
  bool keeps(lapse::TableId table, lapse::Key key) const override;
};

// AdaPM without relocation, and static full replication: a key stays where it is, and every domain that wants
// it has a replica. A key that cannot be replicated moves if `relocates_others`, else stays.
class ReplicationPolicy final : public TechniquePolicy {
 public:
  explicit ReplicationPolicy(bool relocates_others) : relocates_others_(relocates_others) {}
  Wanted wanted(lapse::TableId table, lapse::Key key, bool likely_alone) const override;
  Decision decide(lapse::TableId table, lapse::Key key) const override;
  bool keeps(lapse::TableId table, lapse::Key key) const override;

 private:
  const bool relocates_others_;
};

// NuPS: the frequent keys stay where they are and are replicated, the others move to each domain that begins
// to want them.
class FixedChoicePolicy final : public TechniquePolicy {
 public:
  // The table must allow replicas.
  void set_frequent(lapse::TableId table, std::span<const lapse::Key> keys);
  bool is_frequent(lapse::TableId table, lapse::Key key) const;

  Wanted wanted(lapse::TableId table, lapse::Key key, bool likely_alone) const override;
  Decision decide(lapse::TableId table, lapse::Key key) const override;
  bool keeps(lapse::TableId table, lapse::Key key) const override;

 private:
  std::unordered_map<lapse::TableId, std::unordered_set<lapse::Key>> frequent_;
};

// Static partitioning, and manual localize: intents have no effect.
class NoManagement final : public TechniquePolicy {
 public:
  Wanted wanted(lapse::TableId table, lapse::Key key, bool likely_alone) const override;
  Decision decide(lapse::TableId table, lapse::Key key) const override;
  bool keeps(lapse::TableId table, lapse::Key key) const override;
};

std::unique_ptr<TechniquePolicy> make_policy(Technique technique);

}  // namespace adapm
