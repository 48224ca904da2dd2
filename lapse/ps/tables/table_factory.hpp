// Makes this rank's part of a table.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lapse/directory/domain_map.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/tables/shared_table_part.hpp"
#include "lapse/store/memory/memory_budget.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/store/values/element_type.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Thread safety: the server's thread, while no engine runs. Does not communicate.
class TableFactory {
 public:
  TableFactory(RegionAllocator& regions, const Transport& transport);

  // The user's options, checked, with everything derived from them without domains.
  struct Plan {
    TableOptions options;
    ElementType type;
    bool location_caches;
    ValueLayout layout;
    ValueSizes sizes;
  };
  // Throws ConfigurationError if the options are invalid or the name is taken, UserCodeFailed if the function
  // of lengths throws, and, before any work for each key, OutOfMemory if not even the keys' slot words fit
  // into memory.
  Plan plan(const TableOptions& options, ElementType type, bool location_caches,
            const std::vector<std::unique_ptr<TableShard>>& existing) const;

  // The bytes that a sparse table without a limit of its own may take of limited addresses (ulimit -v), of
  // which each reservation takes some away: an eighth of what is left. Nullopt for other tables.
  static std::optional<std::uint64_t> address_share(const TableOptions& options);
  // What users should know about this share.
  static std::string share_text(std::uint64_t bytes);

  // Bytes of this rank for a table when it is made, for a sparse one with max_keys. Of memory that its domain
  // shares, this rank's part. Throws what plan and home_map throw, except OutOfMemory.
  ParameterServer::MemoryUse estimate(const TableOptions& options, ElementType type,
                                      const DomainMap& domains) const;

  // The homes of the keys, as seen from this rank. Throws ConfigurationError, and UserCodeFailed if the
  // application's function throws.
  HomeMap home_map(const TableOptions& options, const DomainMap& domains) const;
  // The needs of a dense table in the memory that this rank's domain shares.
  SharedTableLayout::Request request(const Plan& plan, const HomeMap& homes, const DomainMap& domains) const;

  // The ranks and domains of a table, as seen from one rank. `domains` outlives the table.
  struct Place {
    const DomainMap& domains;
    Rank rank;
    HomeMap homes;  // as seen from the rank's domain
  };
  // Makes a table with number `id`. It owns the keys that are at home and served on this rank, with their
  // first values, in memory that the domain shares if `shared` has a part of it, otherwise in its own memory.
  // Throws OutOfMemory before the machine swaps, UserCodeFailed if the initialiser throws.
  std::unique_ptr<TableShard> make(Plan plan, TableId id, Place place,
                                   const std::optional<SharedTablePart>& shared) const;

 private:
  // Derives a Plan from checked options. Allocates memory for the keys' lengths, so it must fit.
  Plan lay_out(const TableOptions& options, ElementType type, bool location_caches) const;
  // Returns the lengths of the values of a dense table. Throws ConfigurationError, UserCodeFailed.
  ValueSizes list_sizes(const TableOptions& options, const ValueLayout& layout) const;
  std::unique_ptr<TableShard> make_dense(Plan plan, TableDefinition definition,
                                         const std::optional<SharedTablePart>& shared) const;
  std::unique_ptr<TableShard> make_sparse(Plan plan, TableDefinition definition) const;
  // Checks the memory for slot words: of all ranks of a host together, if they share them.
  void check_slot_words(const TableOptions& options) const;
  // The ranks of a host make their parts at the same time, so each may use its share of the available memory.
  void check_memory(const TableOptions& options, const TableDefinition& definition, std::uint64_t own_keys,
                    std::uint64_t slot_bytes, bool is_mapped) const;
  // A table that is not shared reserves `needed` bytes of addresses, for all keys that may move to this rank.
  // If addresses are limited, the program needs some too.
  void check_addresses(const std::string& name, std::uint64_t keys, double needed) const;

  RegionAllocator& regions_;
  const Transport& transport_;
  std::shared_ptr<UncheckedMemory> unchecked_ = std::make_shared<UncheckedMemory>();  // for the budgets
};

}  // namespace lapse
