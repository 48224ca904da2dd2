// The definition of a table, as one rank sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lapse/core/types.hpp"
#include "lapse/core/value_bound.hpp"
#include "lapse/directory/domain_map.hpp"
#include "lapse/directory/home_map.hpp"
#include "lapse/directory/location_cache.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "lapse/store/values/initialiser.hpp"
#include "lapse/store/values/push_limits.hpp"

namespace lapse {

// Immutable once it has made a shard. Equal on all ranks, except `rank` and the domain from which `homes` is
// seen. Thread safety: any thread.
struct TableDefinition {
  TableId id;
  std::string name;
  UpdateKernel rule;
  Initialiser initialiser;
  std::uint64_t seed = 0;  // of the initialiser
  LocationCache cache;
  const DomainMap& domains;  // outlives the table
  Rank rank;
  HomeMap homes;
  PushLimits limits = {};
  // By how many clocks a worker may be ahead of the updates of others that it can read; nullopt: by any.
  std::optional<std::uint32_t> clock_bound = {};
  // By how much a worker's changes of a key may differ between copies; nullopt: by any number.
  std::optional<ValueBound> value_bound = {};
  bool sends_at_clocks = false;  // changes wait for the next cut; else rounds send them
  bool wants_accessed = false;   // a domain wants each key that it accesses

  bool caches_reads = false;  // workers keep what they have read for some clocks

  bool is_bounded() const { return clock_bound || value_bound; }
  // Whether accesses to memory may bypass the worker's core.
  bool is_inlined() const { return !value_bound && !caches_reads; }
  Domain self_domain() const { return homes.self(); }
  std::size_t members() const { return domains.members(self_domain()).size(); }
  // The rank whose engine decides about the key for a domain. Messages about the key go to it.
  Rank serving_rank(Key key, Domain domain) const { return domains.serving_rank(key, domain); }
  Rank serving_rank(Key key) const { return domains.serving_rank(key, self_domain()); }
  bool serves(Key key) const { return serving_rank(key) == rank; }
};

}  // namespace lapse
