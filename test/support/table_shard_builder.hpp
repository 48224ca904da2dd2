// Table shards for tests that need no server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse::test {

struct TableShardSettings {
  TableId id{0};
  bool location_caches = true;
  UpdateRule rule = UpdateRule::add();
  std::uint64_t max_units = 0;  // the store's limit
  std::optional<ValueBound> value_bound = {};
};

// A shard in memory of its own, with the keys whose home is its rank. `sizes`: of its values. `keys`: the
// number of keys of a dense table, the maximum of a sparse one.
inline std::unique_ptr<TableShard> build_table_shard(const TableShardSettings& settings,
                                                     const DomainMap& domains, Rank rank, HomeMap homes,
                                                     bool sparse, std::uint64_t keys, ValueSizes sizes,
                                                     RegionAllocator& regions) {
  const ElementType type = sizes.layout().type;
  const auto make_store = [&] {
    KeyWords words = sparse ? KeyWords::sparse(regions, keys) : KeyWords::dense(regions, keys);
    return Store(regions, std::move(words), std::move(sizes),
                 settings.max_units == 0 ? keys : settings.max_units, 0);
  };
  OwnershipTable owners(homes.own_keys(), homes.self());
  TableDefinition definition{.id = settings.id,
                             .name = "table",
                             .rule = UpdateKernel(settings.rule, type),
                             .initialiser = Initialiser(),
                             .seed = 0,
                             .cache = LocationCache(settings.location_caches),
                             .domains = domains,
                             .rank = rank,
                             .homes = std::move(homes),
                             .value_bound = settings.value_bound};
  auto table = std::make_unique<TableShard>(std::move(definition), make_store, std::move(owners));
  if (!sparse) table->create_own_keys();
  return table;
}

}  // namespace lapse::test
