#include "lapse/ps/table_factory.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/ps/table_spec.hpp"
#include "lapse/store/available_memory.hpp"

namespace lapse {

void TableFactory::check_memory(const HomeMap& homes, const ValueLayout& layout,
                                const TableOptions& options) const {
  const double needed = static_cast<double>(options.keys) * sizeof(std::uint64_t) +
                        static_cast<double>(homes.own_keys()) *
                            static_cast<double>(layout.slot_bytes() + sizeof(OwnershipTable::Entry));
  const double available = static_cast<double>(available_memory_bytes()) / transport_.host_ranks();
  if (needed > available) {
    throw OutOfMemory(fmt::format(
        "table '{}' needs {:.1f} MB on rank {} ({} of its {} keys, {} bytes each); {:.1f} MB are available",
        options.name, needed / 1e6, transport_.rank().value(), homes.own_keys(), options.keys,
        layout.slot_bytes(), available / 1e6));
  }
}

HomeMap TableFactory::make_home_map(const TableOptions& options) const {
  const Domain self = domains_.domain_of(transport_.rank());
  switch (options.home) {
    case HomeMapKind::hash:
      return HomeMap::hash(options.keys, domains_.domains(), self);
    case HomeMapKind::range:
      return HomeMap::range(options.keys, domains_.domains(), self);
    case HomeMapKind::custom:
      break;
  }
  return HomeMap::custom(options.keys, domains_.domains(), self, options.home_function);
}

std::unique_ptr<TableState> TableFactory::make(
    const TableOptions& options, ElementType type, bool location_caches,
    const std::vector<std::unique_ptr<TableState>>& existing) const {
  TableSpec::check(options, type);
  for (const auto& table : existing) {
    if (table->name == options.name) {
      throw ConfigurationError(fmt::format("the server has a table '{}' already", options.name));
    }
  }
  const ValueLayout layout{type, options.length, options.update_rule.state_size()};
  HomeMap homes = make_home_map(options);
  check_memory(homes, layout, options);
  const TableId id(static_cast<std::uint32_t>(existing.size()));
  auto table = std::make_unique<TableState>(id, options.name, std::move(homes), layout, options.update_rule,
                                            location_caches, regions_, options.keys);
  table->home_map.for_each_own_key([&](Key key) {
    std::byte* const value = table->store.create(key);
    options.initialiser.fill(options.seed, key, layout, value);
    table->rule.initialise(value, layout.length);
  });
  return table;
}

}  // namespace lapse
