// How the ranks make a table together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lapse/core/log.hpp"
#include "lapse/directory/domain_map.hpp"
#include "lapse/ps/agreement/agreement.hpp"
#include "lapse/ps/tables/table_factory.hpp"
#include "lapse/ps/tables/table_spec.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Each rank proposes a table, the ranks agree on it, allocate shared memory, and build their parts. Dense
// tables are stored in memory that the ranks of each domain share, if every host has enough of it for the
// slot words and owners of all their keys; otherwise every rank is a domain by itself, for this table. Values
// that do not fit are stored in private memory. Either is logged in one line.
//
// Thread safety: the server's thread, while no engine runs.
class TableMaker {
 public:
  // `domains`: domains of ranks that can share; `alone`: each rank by itself. Both outlive the tables.
  TableMaker(Transport& transport, Agreement& agreement, Logger& logger, const DomainMap& domains,
             const DomainMap& alone, RegionAllocator& regions)
      : transport_(transport),
        agreement_(agreement),
        logger_(logger),
        domains_(domains),
        alone_(alone),
        factory_(regions, transport) {}

  // Collective. Throws what TableFactory throws on this rank, PeerFailed if another rank fails, and
  // CollectiveMismatch if the ranks propose different tables.
  std::unique_ptr<TableShard> make(const TableOptions& options, ElementType type, bool location_caches,
                                   const std::vector<std::unique_ptr<TableShard>>& existing);

  // Estimates what this rank needs if the ranks of a domain share memory. Throws what make throws, except
  // OutOfMemory.
  ParameterServer::MemoryUse estimate(const TableOptions& options, ElementType type) const;

 private:
  // The table that this rank proposes.
  struct Proposal {
    TableFactory::Plan plan;
    const DomainMap& domains;  // the domains whose ranks are to share the table
    HomeMap homes;
    TableSpec spec;
    SharedTableLayout::Request request = {};  // of this rank's domain, if its ranks are to share the table
  };
  // The facts of the proposal that the other ranks need before memory is shared.
  struct Offer {
    TableSpec spec;
    std::uint64_t free_bytes = 0;  // of this rank's host
    std::uint64_t min_bytes = 0;   // needed by its domain
    bool possible = true;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& spec& free_bytes& min_bytes& possible;
    }
  };
  struct Agreed {
    Proposal proposal;
    std::vector<Offer> offers;  // by rank
  };
  // The memory of the table: the ranks of these domains share it, and this rank has a part of their memory.
  // Without a part: in private memory.
  struct Placement {
    const DomainMap& domains;
    std::optional<SharedTablePart> part = std::nullopt;
  };
  // This rank's part of its domain's memory (none if the domain has one member), or a problem.
  struct Allocation {
    std::optional<SharedTablePart> part;
    std::string problem;
  };

  Proposal propose(const TableOptions& options, ElementType type, bool location_caches,
                   const std::vector<std::unique_ptr<TableShard>>& existing) const;
  // Collective. Exchanges the results of make_proposal.
  Agreed agree(const std::function<Proposal()>& make_proposal);
  // Collective. Warns if a dense table is not shared.
  Placement allocate(const Agreed& agreed);
  // Collective. Builds this rank's part of the result of make_proposal.
  std::unique_ptr<TableShard> build(TableId id, const std::function<Proposal()>& make_proposal,
                                    const Placement& placement);

  void require_equal(const std::vector<TableSpec>& specs);
  // Returns for each domain the bytes that it may take of its host's shared memory.
  std::vector<std::size_t> memory_limits(const std::vector<Offer>& offers) const;
  // Returns why the ranks cannot share the table; nullopt if they can, as far as the offers show.
  std::optional<std::string> sharing_obstacle(const std::vector<Offer>& offers,
                                              const std::vector<std::size_t>& limits) const;
  Allocation allocate_part(const Proposal& proposal, std::size_t max_bytes);
  // Commits the memory of this rank's part. Returns an empty text, or why it cannot.
  std::string commit(SharedTablePart& part, Domain self) const;
  // Collective. Lets the other ranks read the owners of the keys at home on this rank, if that is possible;
  // otherwise rank 0 logs the reason, once.
  void expose_owners(TableShard& table);

  Transport& transport_;
  Agreement& agreement_;
  Logger& logger_;
  const DomainMap& domains_;
  const DomainMap& alone_;
  TableFactory factory_;
  bool owners_can_be_read_ = true;  // until it fails, on every rank
};

}  // namespace lapse
