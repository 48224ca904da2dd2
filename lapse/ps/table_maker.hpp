// How the ranks make a table together.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/log.hpp"
#include "lapse/directory/domain_map.hpp"
#include "lapse/ps/agreement.hpp"
#include "lapse/ps/table_factory.hpp"
#include "lapse/ps/table_spec.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Dense tables lie in memory that the ranks of each domain share, if there is enough of it for the words and
// owners of all their keys on every host; else every rank is a domain by itself, for this table. Contents
// that do not fit go to private memory. Either is told by one line.
//
// Thread safety: the server's thread, while no engine runs.
class TableMaker {
 public:
  // `domains`: of the ranks that can share; `alone`: each rank by itself. Both outlive the tables.
  TableMaker(Transport& transport, Agreement& agreement, Logger& logger, const DomainMap& domains,
             const DomainMap& alone, RegionAllocator& regions)
      : transport_(transport),
        agreement_(agreement),
        logger_(logger),
        domains_(domains),
        alone_(alone),
        factory_(regions, transport) {}

  // Collective. Throws what TableFactory throws, here, PeerFailed on the other ranks, and CollectiveMismatch
  // when the ranks want different tables.
  std::unique_ptr<TableShard> make(const TableOptions& options, ElementType type, bool location_caches,
                                   const std::vector<std::unique_ptr<TableShard>>& existing);

 private:
  // What a rank says before memory is shared.
  struct Proposal;

  // Exchanges a rank's words; throws `failure` or what comes from elsewhere. Returns what all ranks gave.
  std::vector<std::string> agree(const std::string& mine, std::exception_ptr failure);
  void compare(const std::vector<TableSpec>& specs);
  // Lets the other ranks read who owns the keys at home here, where that is possible; else rank 0 says why
  // not, once.
  void expose_owners(TableShard& table);
  // The part of shared memory; nothing where this rank's domain has no other member, or when the table cannot
  // be shared: then `shared` is false afterwards, on every rank.
  std::optional<SharedTablePart> share(const std::string& name, const SharedTableLayout::Wish& wish,
                                       const std::vector<Proposal>& proposals, bool& shared);

  Transport& transport_;
  Agreement& agreement_;
  Logger& logger_;
  const DomainMap& domains_;
  const DomainMap& alone_;
  TableFactory factory_;
  bool owners_can_be_read_ = true;  // until it fails, on every rank
};

}  // namespace lapse
