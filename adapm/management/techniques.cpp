#include "adapm/management/techniques.hpp"

namespace adapm {

using lapse::Key;
using lapse::TableId;

void TechniquePolicy::allow_replicas(TableId table) {
  if (replicated_.size() <= table.index()) replicated_.resize(table.index() + 1);
  replicated_[table.index()] = true;
}

// Techniques that never announce are not asked decide. The others answer the same for all keys and changes: a
// domain gets a key as soon as it is the only one that wants it.

// --- adaptive

AdaptivePolicy::Wanted AdaptivePolicy::wanted(TableId table, Key /*key*/, bool likely_alone) const {
  // Announcing would lead to an offer, one more round trip. If the owner wants the key after all, it keeps a
  // replica; if the key has holders, they move with it.
  return may_replicate(table) && !likely_alone ? Wanted::announce : Wanted::localize;
}
AdaptivePolicy::Decision AdaptivePolicy::decide(TableId /*table*/, Key /*key*/) const {
  return Decision::offer;
}
bool AdaptivePolicy::keeps(TableId table, Key /*key*/) const {
  return may_replicate(table);
}

// --- relocation only

RelocationPolicy::Wanted RelocationPolicy::wanted(TableId /*table*/, Key /*key*/,
                                                  bool /*likely_alone*/) const {
  return Wanted::localize;
}
RelocationPolicy::Decision RelocationPolicy::decide(TableId /*table*/, Key /*key*/) const {
  return Decision::serve;
}
bool RelocationPolicy::keeps(TableId /*table*/, Key /*key*/) const {
  return false;
}

// --- replication only, full replication

ReplicationPolicy::Wanted ReplicationPolicy::wanted(TableId table, Key /*key*/, bool /*likely_alone*/) const {
  if (may_replicate(table)) return Wanted::announce;
  return relocates_others_ ? Wanted::localize : Wanted::nothing;
}
ReplicationPolicy::Decision ReplicationPolicy::decide(TableId /*table*/, Key /*key*/) const {
  return Decision::serve;
}
bool ReplicationPolicy::keeps(TableId table, Key /*key*/) const {
  return may_replicate(table);
}

// --- NuPS

void FixedChoicePolicy::set_frequent(TableId table, std::span<const Key> keys) {
  frequent_[table] = {keys.begin(), keys.end()};
}
bool FixedChoicePolicy::is_frequent(TableId table, Key key) const {
  const auto found = frequent_.find(table);
  return found != frequent_.end() && found->second.contains(key);
}
FixedChoicePolicy::Wanted FixedChoicePolicy::wanted(TableId table, Key key, bool /*likely_alone*/) const {
  return may_replicate(table) && is_frequent(table, key) ? Wanted::announce : Wanted::localize;
}
FixedChoicePolicy::Decision FixedChoicePolicy::decide(TableId /*table*/, Key /*key*/) const {
  return Decision::serve;
}
bool FixedChoicePolicy::keeps(TableId table, Key key) const {
  return may_replicate(table) && is_frequent(table, key);
}

// --- none

NoManagement::Wanted NoManagement::wanted(TableId /*table*/, Key /*key*/, bool /*likely_alone*/) const {
  return Wanted::nothing;
}
NoManagement::Decision NoManagement::decide(TableId /*table*/, Key /*key*/) const {
  return Decision::serve;
}
bool NoManagement::keeps(TableId /*table*/, Key /*key*/) const {
  return false;
}

std::unique_ptr<TechniquePolicy> make_policy(Technique technique) {
  switch (technique) {
    case Technique::adaptive:
    case Technique::immediate:
      return std::make_unique<AdaptivePolicy>();
    case Technique::relocation_only:
      return std::make_unique<RelocationPolicy>();
    case Technique::replication_only:
      return std::make_unique<ReplicationPolicy>(true);
    case Technique::full_replication:
      return std::make_unique<ReplicationPolicy>(false);
    case Technique::nups:
      return std::make_unique<FixedChoicePolicy>();
    case Technique::static_partitioning:
    case Technique::localize:
      break;
  }
  return std::make_unique<NoManagement>();
}

}  // namespace adapm
