#include "lapse/ps/tables/table_factory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/ps/tables/table_spec.hpp"
#include "lapse/store/memory/available_memory.hpp"
#include "lapse/store/memory/memory_budget.hpp"

namespace lapse {

namespace {

// Reading how much memory is available takes as long as committing this many bytes.
constexpr std::uint64_t kWorthReading = 256 << 10;

// The number of keys that a rank makes at the start, and their units.
struct OwnKeys {
  std::uint64_t keys = 0;
  std::uint64_t units = 0;
};

OwnKeys count_own(const TableDefinition& definition, const ValueSizes& sizes) {
  OwnKeys own;
  definition.homes.for_each_own_key([&](Key key) {
    if (!definition.serves(key)) return;
    ++own.keys;
    own.units += sizes.units(key);
  });
  return own;
}

// The prefix of error messages.
std::string owner_label(const TableDefinition& definition) {
  return fmt::format("table '{}' on rank {}", definition.name, definition.rank.value());
}

}  // namespace

std::string TableFactory::share_text(std::uint64_t bytes) {
  return fmt::format(
      "the limit of the process's addresses leaves it {:.1f} MB: set memory_limit_bytes, or raise ulimit -v",
      static_cast<double>(bytes) / 1e6);
}

TableFactory::TableFactory(RegionAllocator& regions, const Transport& transport)
    : regions_(regions), transport_(transport) {}

TableFactory::Plan TableFactory::plan(const TableOptions& options, ElementType type, bool location_caches,
                                      const std::vector<std::unique_ptr<TableShard>>& existing) const {
  TableSpec::check(options, type);
  for (const auto& table : existing) {
    if (table->name() == options.name) {
      throw ConfigurationError(fmt::format("the server has a table '{}' already", options.name));
    }
  }
  if (!options.sparse) check_slot_words(options);
  return lay_out(options, type, location_caches);
}

TableFactory::Plan TableFactory::lay_out(const TableOptions& options, ElementType type,
                                         bool location_caches) const {
  const bool may_have_copies = consistency_of(options).may_have_copies();
  const ValueLayout layout{
      .type = type,
      .length = options.length,
      .state = options.update_rule.state_size(),
      .copies = may_have_copies ? CopyMerger::copies(options.update_rule.merge()) : Copies::none};
  ValueSizes sizes = !options.lengths ? ValueSizes(layout)
                     : options.sparse ? ValueSizes::computed(layout, options.lengths)
                                      : list_sizes(options, layout);
  return {.options = options,
          .type = type,
          .location_caches = location_caches,
          .layout = layout,
          .sizes = std::move(sizes)};
}

ValueSizes TableFactory::list_sizes(const TableOptions& options, const ValueLayout& layout) const {
  const auto length_of = [name = options.name, lengths = options.lengths, rank = transport_.rank()](Key key) {
    return run_user_code(name, key, rank, [&] { return lengths(key); });
  };
  try {
    return ValueSizes::listed(layout, options.keys, length_of);
  } catch (const ConfigurationError& error) {
    throw ConfigurationError(
        fmt::format("table '{}' on rank {}: {}", options.name, transport_.rank().value(), error.what()));
  }
}

ParameterServer::MemoryUse TableFactory::estimate(const TableOptions& options, ElementType type,
                                                  const DomainMap& domains) const {
  TableSpec::check(options, type);
  const Plan plan = lay_out(options, type, false);
  ParameterServer::MemoryUse estimate;
  if (options.sparse) {
    // If lengths differ, key 0 stands for all.
    const std::uint64_t keys = options.max_keys.value_or(0);
    const std::uint64_t units = plan.sizes.uniform() || keys == 0 ? 1 : plan.sizes.units(Key(0));
    estimate.words = keys * SparseWords::kBytesPerKey;
    estimate.slabs = keys * units * plan.sizes.unit_bytes();
    estimate.values = keys == 0 ? 0 : keys * plan.sizes.content_bytes(Key(0));
    return estimate;
  }
  const Rank rank = transport_.rank();
  const HomeMap homes = home_map(options, domains);
  const std::uint64_t members = domains.members(homes.self()).size();
  estimate.words = (options.keys * sizeof(KeyWords::Word) + plan.sizes.bytes()) / members;
  estimate.ownership = homes.bytes() + homes.own_keys() * sizeof(OwnershipTable::Entry) / members;
  constexpr std::uint64_t kMaxCounted = std::uint64_t{1} << 22;
  if (plan.sizes.uniform() && (members == 1 || homes.own_keys() > kMaxCounted)) {
    // The ranks of a domain serve keys in turn, except for a small remainder.
    const std::uint64_t own = homes.own_keys() / members;
    estimate.slabs = own * plan.sizes.unit_bytes();
    estimate.values = own * plan.sizes.content_bytes(Key(0));
    return estimate;
  }
  homes.for_each_own_key([&](Key key) {
    if (domains.serving_rank(key, homes.self()) != rank) return;
    estimate.slabs += plan.sizes.units(key) * plan.sizes.unit_bytes();
    estimate.values += plan.sizes.content_bytes(key);
  });
  return estimate;
}

HomeMap TableFactory::home_map(const TableOptions& options, const DomainMap& domains) const {
  const Domain self = domains.domain_of(transport_.rank());
  const std::int32_t count = domains.domains();
  switch (options.home) {
    case HomeMapKind::hash:
      return options.sparse ? HomeMap::sparse_hash(count, self) : HomeMap::hash(options.keys, count, self);
    case HomeMapKind::range:
      return HomeMap::range(options.keys, count, self);
    case HomeMapKind::custom:
      break;
  }
  const auto rank_of = [name = options.name, home = options.home_function, rank = transport_.rank()](
                           Key key) { return run_user_code(name, key, rank, [&] { return home(key); }); };
  const HomeMap::Function domain_of = [&domains, name = options.name, rank_of](Key key) {
    const std::int32_t rank = rank_of(key);
    if (rank < 0 || rank >= domains.ranks()) {
      throw ConfigurationError(
          fmt::format("the home map of table '{}' gives rank {} for key {}: expected 0 to {}", name, rank,
                      key.value(), domains.ranks() - 1));
    }
    return domains.domain_of(Rank(rank)).value();
  };
  return options.sparse ? HomeMap::sparse_custom(count, self, domain_of)
                        : HomeMap::custom(options.keys, count, self, domain_of, rank_of);
}

SharedTableLayout::Request TableFactory::request(const Plan& plan, const HomeMap& homes,
                                                 const DomainMap& domains) const {
  const Domain self = homes.self();
  SharedTableLayout::Request request;
  request.keys = plan.options.keys;
  request.home_keys = homes.own_keys();
  request.unit_bytes = plan.sizes.unit_bytes();
  request.replicable = plan.layout.copies != Copies::none;
  request.units.resize(domains.members(self).size());
  for (std::uint64_t number = 0; number < plan.options.keys; ++number) {
    const Key key(number);
    request.units[static_cast<std::size_t>(domains.position(domains.serving_rank(key, self)))] +=
        plan.sizes.units(key);
  }
  return request;
}

std::unique_ptr<TableShard> TableFactory::make(Plan plan, TableId id, Place place,
                                               const std::optional<SharedTablePart>& shared) const {
  const Consistency consistency = consistency_of(plan.options);
  TableDefinition definition{.id = id,
                             .name = plan.options.name,
                             .rule = UpdateKernel(plan.options.update_rule, plan.type),
                             .initialiser = plan.options.initialiser,
                             .seed = plan.options.seed,
                             .cache = LocationCache(plan.location_caches),
                             .domains = place.domains,
                             .rank = place.rank,
                             .homes = std::move(place.homes),
                             .limits = limits_of(plan.options),
                             .clock_bound = consistency.staleness(),
                             .value_bound = consistency.value_bound(),
                             .sends_at_clocks = consistency.sends_at_clocks(),
                             .wants_accessed = consistency.replicates_accessed(),
                             .caches_reads = consistency.caches_reads()};
  return plan.options.sparse ? make_sparse(std::move(plan), std::move(definition))
                             : make_dense(std::move(plan), std::move(definition), shared);
}

void TableFactory::check_slot_words(const TableOptions& options) const {
  const double needed = static_cast<double>(options.keys) * sizeof(KeyWords::Word);
  if (needed < static_cast<double>(kWorthReading)) return;
  const AvailableMemory available = available_memory();
  if (needed > static_cast<double>(available.bytes)) {
    throw OutOfMemory(fmt::format(
        "table '{}' needs {:.1f} MB on rank {} for the slot words of its {} keys; {}", options.name,
        needed / 1e6, transport_.rank().value(), options.keys, available.to_text()));
  }
}

void TableFactory::check_memory(const TableOptions& options, const TableDefinition& definition,
                                std::uint64_t own_keys, std::uint64_t slot_bytes, bool is_mapped) const {
  const auto members = static_cast<double>(definition.members());
  const double words = static_cast<double>(options.keys) * sizeof(std::uint64_t) / members;
  const double lengths = options.lengths ? static_cast<double>(options.keys) * sizeof(std::uint32_t) : 0;
  const double owners = static_cast<double>(own_keys) * sizeof(OwnershipTable::Entry);
  const double needed = words + lengths + owners + static_cast<double>(slot_bytes);
  // Many small tables take as much as a large one.
  if (needed < static_cast<double>(kWorthReading)) {
    unchecked_->bytes += static_cast<std::uint64_t>(needed);
    if (unchecked_->bytes < MemoryBudget::kReserveBytes / 16) return;
    unchecked_->bytes = 0;
  }
  const auto sharers = static_cast<std::size_t>(transport_.host_ranks());
  const AvailableMemory available =
      is_mapped ? available_for_mapped_memory(sharers) : available_memory(sharers);
  if (needed > static_cast<double>(available.bytes)) {
    throw OutOfMemory(fmt::format(
        "table '{}' needs {:.1f} MB on rank {} ({} of its {} keys, {} bytes of values); {}", options.name,
        needed / 1e6, transport_.rank().value(), own_keys, options.keys, slot_bytes, available.to_text()));
  }
}

void TableFactory::check_addresses(const std::string& name, std::uint64_t keys, double needed) const {
  if (!addresses_are_limited()) return;
  constexpr auto kReserve = static_cast<double>(MemoryBudget::kReserveBytes);
  const AvailableMemory available = available_addresses();
  if (needed <= kReserve / 16 || needed + kReserve <= static_cast<double>(available.bytes)) return;
  throw OutOfMemory(
      fmt::format("table '{}' needs addresses for {:.1f} MB on rank {}, which may get up to {} of its keys; "
                  "{:.1f} MB must be left to the program; {}",
                  name, needed / 1e6, transport_.rank().value(), keys, kReserve / 1e6, available.to_text()));
}

std::optional<std::uint64_t> TableFactory::address_share(const TableOptions& options) {
  constexpr std::size_t kTables = 8;
  const bool is_bounded = options.memory_limit_bytes || (options.max_keys && !options.lengths);
  if (!options.sparse || is_bounded || !addresses_are_limited()) return std::nullopt;
  return std::min(available_memory_bytes(), available_addresses().bytes / kTables);
}

std::unique_ptr<TableShard> TableFactory::make_dense(Plan plan, TableDefinition definition,
                                                     const std::optional<SharedTablePart>& shared) const {
  const TableOptions& options = plan.options;
  const Domain self = definition.self_domain();
  const OwnKeys own = count_own(definition, plan.sizes);
  check_memory(options, definition, own.keys, own.units * plan.sizes.unit_bytes(), shared.has_value());
  std::uint64_t all_units = options.keys;
  if (!plan.sizes.uniform()) {
    all_units = 0;
    for (std::uint64_t key = 0; key < options.keys; ++key) all_units += plan.sizes.units(Key(key));
  }
  if (!shared) {
    const std::uint64_t words = options.keys * sizeof(KeyWords::Word);
    check_addresses(options.name, options.keys,
                    static_cast<double>(words + all_units * plan.sizes.unit_bytes()));
  }
  LabelledRegions regions(regions_, owner_label(definition));
  const auto make_store = [&] {
    return shared ? Store(shared->words(options.keys), shared->slots(),
                          shared->overflow(regions_, regions.whose()), std::move(plan.sizes), own.units,
                          shared->dirty_set())
                  : Store(regions, KeyWords::dense(regions, options.keys), std::move(plan.sizes), all_units,
                          own.units);
  };
  OwnershipTable owners =
      shared ? OwnershipTable(shared->owners(), self) : OwnershipTable(definition.homes.own_keys(), self);
  auto table = std::make_unique<TableShard>(std::move(definition), make_store, std::move(owners));
  progress_role.assert_held();  // No engine runs.
  table->create_own_keys();
  return table;
}

std::unique_ptr<TableShard> TableFactory::make_sparse(Plan plan, TableDefinition definition) const {
  const TableOptions& options = plan.options;
  const std::optional<std::uint64_t> share = address_share(options);
  std::string label = owner_label(definition);
  if (share) label += fmt::format(" ({})", share_text(*share));
  MemoryBudget budget(regions_, std::move(label), options.memory_limit_bytes, unchecked_);
  // Addresses for as much as memory could ever hold.
  std::optional<std::uint64_t> bound = options.memory_limit_bytes;
  if (!bound) bound = share;
  const std::uint64_t max_bytes = bound ? *bound : available_memory_bytes();
  const std::uint64_t slot_bytes = options.lengths ? ValueLayout::kSlotAlignment : plan.layout.slot_bytes();
  const std::uint64_t fitting_keys =
      std::max<std::uint64_t>(1, max_bytes / (SparseWords::kBytesPerKey + slot_bytes));
  // Where addresses are limited, nothing is reserved that a limit of memory excludes.
  const bool bounds_keys = options.memory_limit_bytes && addresses_are_limited();
  const std::uint64_t max_keys = options.max_keys && bounds_keys ? std::min(*options.max_keys, fitting_keys)
                                                                 : options.max_keys.value_or(fitting_keys);
  const std::uint64_t word_bytes = max_keys * SparseWords::kBytesPerKey;
  const std::uint64_t value_bytes = share && word_bytes < max_bytes ? max_bytes - word_bytes : max_bytes;
  const std::uint64_t max_units =
      options.lengths ? std::max<std::uint64_t>(1, value_bytes / plan.sizes.unit_bytes()) : max_keys;
  if (!share || options.max_keys) {
    check_addresses(options.name, max_keys,
                    static_cast<double>(max_keys) * SparseWords::kBytesPerKey +
                        static_cast<double>(max_units) * static_cast<double>(plan.sizes.unit_bytes()));
  }
  OwnershipTable owners(definition.homes.own_keys(), definition.self_domain());
  const auto make_store = [&] {
    return Store(budget, KeyWords::sparse(budget, max_keys), std::move(plan.sizes), max_units, 0);
  };
  return std::make_unique<TableShard>(std::move(definition), make_store, std::move(owners));
}

}  // namespace lapse
