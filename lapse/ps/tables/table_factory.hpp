// Makes this rank's part of a table.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lapse/directory/domain_map.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/tables/shared_table_part.hpp"
#include "lapse/store/memory/memory_budget.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/store/values/element_type.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Thread safety: the server's thread, while no engine runs. Does not leave the rank.
class TableFactory {
 public:
  TableFactory(RegionAllocator& regions, const Transport& transport);

  // The user's options, checked, with all that follows from them without domains.
  struct Plan {
    TableOptions options;
    ElementType type;
    bool location_caches;
    ValueLayout layout;
    ValueSizes sizes;
  };
  // Throws ConfigurationError for impossible options or a name that is taken, UserCodeFailed when the
  // function of lengths throws, and OutOfMemory, before anything is done for each key, when not even the slot
  // words of the keys have room.
  Plan plan(const TableOptions& options, ElementType type, bool location_caches,
            const std::vector<std::unique_ptr<TableShard>>& existing) const;

  // Bytes of this rank for a table as it is made; a sparse one: with max_keys. Of what its domain shares, its
  // part. Throws as plan and home_map, but OutOfMemory.
  struct Estimate {
    std::uint64_t words = 0;
    std::uint64_t ownership = 0;
    std::uint64_t slabs = 0;
    std::uint64_t values = 0;  // within the slabs
  };
  Estimate estimate(const TableOptions& options, ElementType type, const DomainMap& domains) const;

  // The homes of the keys, seen from this rank. Throws ConfigurationError, and UserCodeFailed when the
  // application's function throws.
  HomeMap home_map(const TableOptions& options, const DomainMap& domains) const;
  // What a dense table would take of the memory that this rank's domain shares.
  SharedTableLayout::Request request(const Plan& plan, const HomeMap& homes, const DomainMap& domains) const;

  // The ranks and domains of a table, seen from one rank; `domains` outlives the table.
  struct Place {
    const DomainMap& domains;
    Rank rank;
    HomeMap homes;  // seen from the rank's domain
  };
  // A table that owns, with their first values, the keys that are at home and served on this rank; in
  // memory that the domain shares, if there is a part of it, else in memory of its own. It gets the number
  // `id`. Throws OutOfMemory before the machine swaps, UserCodeFailed when the initialiser throws.
  std::unique_ptr<TableShard> make(Plan plan, TableId id, Place place,
                                   const std::optional<SharedTablePart>& shared) const;

 private:
  // What follows from checked options; a plan, where there is room for lengths of keys.
  Plan lay_out(const TableOptions& options, ElementType type, bool location_caches) const;
  // The lengths of the values of a dense table. Throws ConfigurationError, UserCodeFailed.
  ValueSizes list_sizes(const TableOptions& options, const ValueLayout& layout) const;
  std::unique_ptr<TableShard> make_dense(Plan plan, TableDefinition definition,
                                         const std::optional<SharedTablePart>& shared) const;
  std::unique_ptr<TableShard> make_sparse(Plan plan, TableDefinition definition) const;
  // Of all ranks of a host together, if they share them.
  void check_slot_words(const TableOptions& options) const;
  // The ranks of a host make their parts at the same time: each may count on its share of what is available.
  void check_memory(const TableOptions& options, const TableDefinition& definition, std::uint64_t own_keys,
                    std::uint64_t slot_bytes, bool is_mapped) const;
  // A table that is not shared reserves addresses for all keys, as all may come to this rank. Where addresses
  // are limited, the program needs some too.
  void check_addresses(const TableOptions& options, std::uint64_t slot_bytes) const;

  RegionAllocator& regions_;
  std::unique_ptr<RegionAllocator> growing_;  // one for all tables: their regions must avoid each other
  const Transport& transport_;
  std::shared_ptr<UncheckedMemory> unchecked_ = std::make_shared<UncheckedMemory>();  // the tables' budgets'
};

}  // namespace lapse
