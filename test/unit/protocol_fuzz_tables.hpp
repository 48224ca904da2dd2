// The tables of ranks whose messages a test damages.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lapse/directory/domain_map.hpp"
#include "lapse/ps/tables/shared_table_part.hpp"
#include "lapse/store/copy_merger.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/transport/host/shared_memory.hpp"
#include "lapse/transport/transport.hpp"
#include "test/support/table_shard_builder.hpp"

namespace lapse::test {

inline constexpr std::int32_t kRanks = 3;
inline constexpr std::uint64_t kKeys = 96;

// The tables by number: small values of one length, of which only some are padded in packets; a rule of the
// application; values with per-key lengths, which never travel in runs; dense and sparse tables.
struct FuzzTable {
  ElementType type;
  std::size_t length;
  bool sparse;
  bool own_lengths;
  bool custom;
};
inline constexpr std::array<FuzzTable, 5> kTables{{
    {ElementType::int32, 3, false, false, false},
    {ElementType::float64, 2, false, false, false},
    {ElementType::float32, 4, true, true, false},
    {ElementType::float32, 5, true, false, false},
    {ElementType::int32, 4, false, false, true},
}};

// Which tables have replicas.
enum class FuzzCopies {
  none,
  library,  // those with a rule of the library
  all,      // also the one whose rule refuses updates: it may refuse a merge
};

struct FuzzSetup {
  FuzzCopies copies = FuzzCopies::none;
  std::int32_t domain_ranks = 1;  // that share memory of dense tables; the last domain may have fewer
  bool little_memory = false;     // most values do not fit into the shared memory
  std::uint64_t seed = 0;
};

// Adds updates, and refuses some of them.
struct CapriciousRule {
  std::string name() const { return "capricious"; }
  std::size_t state_elements(std::size_t length) const { return length; }
  void initialise(std::span<const std::int32_t>, std::span<std::int32_t> state) const {
    std::ranges::fill(state, 0);
  }
  void apply(std::span<std::int32_t> value, std::span<std::int32_t> state,
             std::span<const std::int32_t> update, float) const {
    if (value[0] % 7 == 4) throw std::runtime_error("not today");
    for (std::size_t i = 0; i < value.size(); ++i) value[i] ^= state[i] ^ update[i];
    value[0] = static_cast<std::int32_t>(static_cast<std::uint32_t>(value[0]) + 1);
  }
};

inline std::vector<bool> replicable_tables(FuzzCopies copies) {
  std::vector<bool> all;
  for (const FuzzTable& kind : kTables)
    all.push_back(copies == FuzzCopies::all || (copies == FuzzCopies::library && !kind.custom));
  return all;
}

// Makes the tables of one rank, while the network and its ranks are made, rank by rank.
class FuzzTableMaker {
 public:
  // The arguments outlive the tables. `alone`: each rank is a domain; sparse tables always use such domains.
  FuzzTableMaker(const FuzzSetup& setup, const DomainMap& domains, const DomainMap& alone,
                 Transport& transport, RegionAllocator& regions)
      : setup_(setup), domains_(domains), alone_(alone), transport_(transport), regions_(regions) {}

  std::unique_ptr<TableShard> make(std::uint32_t id) {
    const FuzzTable& kind = kTables[id];
    const Rank self = transport_.rank();
    const DomainMap& domains = kind.sparse ? alone_ : domains_;
    const Domain domain = domains.domain_of(self);
    HomeMap homes = kind.sparse ? HomeMap::sparse_hash(domains.domains(), domain)
                    : id == 0   ? HomeMap::hash(kKeys, domains.domains(), domain)
                                : HomeMap::range(kKeys, domains.domains(), domain);
    const bool has_copies = replicable_tables(setup_.copies)[id];
    const UpdateRule rule =
        kind.custom        ? UpdateRule::custom<std::int32_t>(CapriciousRule{})
        : kind.own_lengths ? UpdateRule::adagrad()
        : kind.sparse      ? (setup_.copies == FuzzCopies::none ? UpdateRule::adagrad() : UpdateRule::adam())
                           : UpdateRule::add();
    const ValueLayout layout{.type = kind.type,
                             .length = kind.length,
                             .state = rule.state_size(),
                             .copies = has_copies ? CopyMerger::copies(rule.merge()) : Copies::none};
    ValueSizes sizes = kind.own_lengths
                           ? ValueSizes::computed(layout, [](Key key) { return 1 + key.value() % 3; })
                           : ValueSizes(layout);
    if (domains.members(domain).size() > 1) return make_shared(id, rule, std::move(homes), std::move(sizes));
    return build_table_shard({.id = TableId(id),
                              .location_caches = id % 2 == 0,
                              .rule = rule,
                              .max_units = kind.sparse ? 10'000 : 10 * kKeys},
                             domains, self, std::move(homes), kind.sparse, kind.sparse ? 1000 : kKeys,
                             std::move(sizes), regions_);
  }

 private:
  std::unique_ptr<TableShard> make_shared(std::uint32_t id, const UpdateRule& rule, HomeMap homes,
                                          ValueSizes sizes) {
    const Rank self = transport_.rank();
    const Domain domain = domains_.domain_of(self);
    SharedTableLayout::Request request{.keys = kKeys,
                                       .home_keys = homes.own_keys(),
                                       .unit_bytes = sizes.unit_bytes(),
                                       .replicable = sizes.layout().copies != Copies::none,
                                       .units = {}};
    request.units.resize(domains_.members(domain).size());
    for (std::uint64_t number = 0; number < kKeys; ++number) {
      const Rank serving = domains_.serving_rank(Key(number), domain);
      request.units[static_cast<std::size_t>(domains_.position(serving))] += sizes.units(Key(number));
    }
    SharedTableLayout plan = SharedTableLayout::plan(request, transport_.shared_memory()->free_bytes());
    if (setup_.little_memory) {
      for (SharedTableLayout::Part& part : plan.parts) part.units = std::min<std::uint64_t>(part.units, 2);
    }
    std::byte* const base = transport_.shared_memory()->allocate(plan.total_bytes());
    SharedTablePart part(
        base, plan, static_cast<std::size_t>(domains_.position(self)), request.home_keys,
        [] { return std::size_t{0}; }, [] {});
    if (!part.commit(domain)) throw std::runtime_error("a simulated memory refuses its pages");
    OwnershipTable owners(part.owners(), domain);
    TableDefinition definition{.id = TableId(id),
                               .name = "shared",
                               .rule = UpdateKernel(rule, sizes.layout().type),
                               .initialiser = Initialiser(),
                               .seed = 0,
                               .cache = LocationCache(id % 2 == 0),
                               .domains = domains_,
                               .rank = self,
                               .homes = std::move(homes)};
    const auto make_store = [&] {
      return Store(part.words(kKeys), part.slots(), part.overflow(regions_), std::move(sizes), 0,
                   part.dirty_set());
    };
    auto table = std::make_unique<TableShard>(std::move(definition), make_store, std::move(owners));
    progress_role.assert_held();  // No engine runs.
    table->create_own_keys();
    return table;
  }

  const FuzzSetup& setup_;
  const DomainMap& domains_;
  const DomainMap& alone_;
  Transport& transport_;
  RegionAllocator& regions_;
};

}  // namespace lapse::test
