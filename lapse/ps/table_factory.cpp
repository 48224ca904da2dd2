#include "lapse/ps/table_factory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"
#include "lapse/ps/table_spec.hpp"
#include "lapse/store/available_memory.hpp"
#include "lapse/store/memory_budget.hpp"

namespace lapse {

void TableFactory::check_memory(const TableOptions& options, std::uint64_t own_keys,
                                std::uint64_t slot_bytes) const {
  const std::size_t per_key = sizeof(std::uint64_t) + (options.lengths ? sizeof(std::uint32_t) : 0);
  const double needed = static_cast<double>(options.keys) * static_cast<double>(per_key) +
                        static_cast<double>(own_keys) * sizeof(OwnershipTable::Entry) +
                        static_cast<double>(slot_bytes);
  const double available = static_cast<double>(available_memory_bytes()) / transport_.host_ranks();
  if (needed > available) {
    throw OutOfMemory(
        fmt::format("table '{}' needs {:.1f} MB on rank {} ({} of its {} keys, {} bytes of values); {:.1f} "
                    "MB are available",
                    options.name, needed / 1e6, transport_.rank().value(), own_keys, options.keys, slot_bytes,
                    available / 1e6));
  }
}

HomeMap TableFactory::make_home_map(const TableOptions& options) const {
  const Domain self = domains_.domain_of(transport_.rank());
  const std::int32_t domains = domains_.domains();
  switch (options.home) {
    case HomeMapKind::hash:
      return options.sparse ? HomeMap::sparse_hash(domains, self)
                            : HomeMap::hash(options.keys, domains, self);
    case HomeMapKind::range:
      return HomeMap::range(options.keys, domains, self);
    case HomeMapKind::custom:
      break;
  }
  return options.sparse ? HomeMap::sparse_custom(domains, self, options.home_function)
                        : HomeMap::custom(options.keys, domains, self, options.home_function);
}

std::unique_ptr<TableState> TableFactory::make(
    const TableOptions& options, ElementType type, bool location_caches,
    const std::vector<std::unique_ptr<TableState>>& existing) const {
  TableSpec::check(options, type);
  return make(options, type, location_caches, make_home_map(options), existing);
}

std::unique_ptr<TableState> TableFactory::make(
    const TableOptions& options, ElementType type, bool location_caches, HomeMap homes,
    const std::vector<std::unique_ptr<TableState>>& existing) const {
  for (const auto& table : existing) {
    if (table->name == options.name) {
      throw ConfigurationError(fmt::format("the server has a table '{}' already", options.name));
    }
  }
  const ValueLayout layout{type, options.length, options.update_rule.state_size()};
  TableState::Definition definition{TableId(static_cast<std::uint32_t>(existing.size())),
                                    options.name,
                                    UpdateKernel(options.update_rule, type),
                                    options.initialiser,
                                    options.seed,
                                    location_caches};
  return options.sparse ? make_sparse(std::move(definition), options, layout, std::move(homes))
                        : make_dense(std::move(definition), options, layout, std::move(homes));
}

std::unique_ptr<TableState> TableFactory::make_dense(TableState::Definition definition,
                                                     const TableOptions& options, const ValueLayout& layout,
                                                     HomeMap homes) const {
  if (!options.lengths) check_memory(options, homes.own_keys(), homes.own_keys() * layout.slot_bytes());
  ValueSizes sizes =
      options.lengths ? ValueSizes::listed(layout, options.keys, options.lengths) : ValueSizes(layout);
  std::uint64_t own_units = homes.own_keys();
  std::uint64_t all_units = options.keys;
  if (!sizes.uniform()) {
    own_units = 0;
    all_units = 0;
    homes.for_each_own_key([&](Key key) { own_units += sizes.units(key); });
    for (std::uint64_t key = 0; key < options.keys; ++key) all_units += sizes.units(Key(key));
    check_memory(options, homes.own_keys(), own_units * sizes.unit_bytes());
  }
  auto table = std::make_unique<TableState>(std::move(definition), std::move(homes), regions_,
                                            KeyWords::dense(regions_, options.keys), std::move(sizes),
                                            all_units, own_units);
  table->home_map.for_each_own_key([&](Key key) {
    table->store.create(key, [&](std::byte* content) { table->write_initial(key, content); });
  });
  return table;
}

std::unique_ptr<TableState> TableFactory::make_sparse(TableState::Definition definition,
                                                      const TableOptions& options, const ValueLayout& layout,
                                                      HomeMap homes) const {
  MemoryBudget budget(regions_, fmt::format("table '{}' on rank {}", options.name, transport_.rank().value()),
                      options.memory_limit_bytes);
  // Addresses for as much as memory could ever hold.
  const std::uint64_t most_bytes =
      options.memory_limit_bytes ? *options.memory_limit_bytes : available_memory_bytes();
  ValueSizes sizes = options.lengths ? ValueSizes::computed(layout, options.lengths) : ValueSizes(layout);
  const std::uint64_t slot_bytes = options.lengths ? ValueLayout::kSlotAlignment : layout.slot_bytes();
  const std::uint64_t max_keys = options.max_keys.value_or(
      std::max<std::uint64_t>(1, most_bytes / (SparseWords::kBytesPerKey + slot_bytes)));
  const std::uint64_t max_units =
      options.lengths ? std::max<std::uint64_t>(1, most_bytes / sizes.unit_bytes()) : max_keys;
  return std::make_unique<TableState>(std::move(definition), std::move(homes), budget,
                                      KeyWords::sparse(budget, max_keys), std::move(sizes), max_units, 0);
}

}  // namespace lapse
