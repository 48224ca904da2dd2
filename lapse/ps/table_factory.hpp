// Makes this rank's part of a table.
#pragma once

#include <memory>
#include <vector>

#include "lapse/directory/domain_map.hpp"
#include "lapse/protocol/table_state.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/store/element_type.hpp"
#include "lapse/store/region.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Thread safety: the server's thread, while no engine runs. Does not leave the rank.
class TableFactory {
 public:
  TableFactory(RegionAllocator& regions, const DomainMap& domains, const Transport& transport)
      : regions_(regions), domains_(domains), transport_(transport) {}

  // A table that owns, with their first values, the keys whose home is here. It gets the number after
  // `existing`. Throws ConfigurationError for impossible options or a name that is taken, OutOfMemory before
  // the machine swaps.
  std::unique_ptr<TableState> make(const TableOptions& options, ElementType type, bool location_caches,
                                   const std::vector<std::unique_ptr<TableState>>& existing) const;

  // The same with a home map of the caller's.
  std::unique_ptr<TableState> make(const TableOptions& options, ElementType type, bool location_caches,
                                   HomeMap homes,
                                   const std::vector<std::unique_ptr<TableState>>& existing) const;

 private:
  std::unique_ptr<TableState> make_dense(TableState::Definition definition, const TableOptions& options,
                                         const ValueLayout& layout, HomeMap homes) const;
  std::unique_ptr<TableState> make_sparse(TableState::Definition definition, const TableOptions& options,
                                          const ValueLayout& layout, HomeMap homes) const;
  // The ranks of a host make their parts at the same time: each may count on its share of what is available.
  void check_memory(const TableOptions& options, std::uint64_t own_keys, std::uint64_t slot_bytes) const;
  HomeMap make_home_map(const TableOptions& options) const;

  RegionAllocator& regions_;
  const DomainMap& domains_;
  const Transport& transport_;
};

}  // namespace lapse
