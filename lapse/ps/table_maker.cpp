#include "lapse/ps/table_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <cstdint>
#include <exception>
#include <set>
#include <sstream>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/shared_memory_cures.hpp"

namespace lapse {

struct TableMaker::Proposal {
  std::string spec;
  std::uint64_t free_bytes = 0;   // of this rank's host
  std::uint64_t least_bytes = 0;  // that its domain needs
  bool possible = true;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& spec& free_bytes& least_bytes& possible;
  }

  std::string encode() const {
    std::ostringstream out;
    boost::archive::binary_oarchive archive(out, boost::archive::no_header);
    archive << *this;
    return out.str();
  }
  static Proposal decode(const std::string& bytes) {
    std::istringstream in(bytes);
    boost::archive::binary_iarchive archive(in, boost::archive::no_header);
    Proposal proposal;
    archive >> proposal;
    return proposal;
  }
};

namespace {

// Bytes that each domain may take of the shared memory of its host, of which something is left to others.
std::vector<std::size_t> shares_of(const DomainMap& domains, const std::vector<std::int32_t>& hosts,
                                   const std::vector<std::uint64_t>& free_bytes) {
  constexpr std::uint64_t kOverhead = std::uint64_t{2} << 20;  // of a window, generously
  std::vector<std::size_t> shares(static_cast<std::size_t>(domains.domains()));
  for (std::size_t domain = 0; domain < shares.size(); ++domain) {
    const auto members = domains.members(Domain(static_cast<std::int32_t>(domain)));
    std::set<Domain> neighbours;
    std::uint64_t free = UINT64_MAX;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      if (hosts[rank] != hosts[members[0].index()]) continue;
      neighbours.insert(domains.domain_of(Rank(static_cast<std::int32_t>(rank))));
      free = std::min(free, free_bytes[rank]);
    }
    const std::uint64_t share = free / 10 * 9 / neighbours.size();
    shares[domain] = share > kOverhead ? share - kOverhead : 0;
  }
  return shares;
}

}  // namespace

std::vector<std::string> TableMaker::agree(const std::string& mine, std::exception_ptr failure) {
  std::optional<std::string> problem;
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = "unknown exception";
  }
  std::vector<std::string> all = agreement_.exchange("create_table", mine, problem);
  if (failure) std::rethrow_exception(failure);
  return all;
}

void TableMaker::compare(const std::vector<TableSpec>& specs) {
  for (std::size_t rank = 1; rank < specs.size(); ++rank) {
    if (const auto difference = specs[0].difference(specs[rank])) {
      agreement_.mark_failed_everywhere();
      throw CollectiveMismatch(
          fmt::format("create_table was called differently on ranks 0 and {}: {}", rank, *difference));
    }
  }
}

std::unique_ptr<TableShard> TableMaker::make(const TableOptions& options, ElementType type,
                                             bool location_caches,
                                             const std::vector<std::unique_ptr<TableShard>>& existing) {
  bool shared = !options.sparse && !domains_.each_rank_alone();
  TableSpec spec = TableSpec::from(options, type, location_caches);
  std::optional<TableFactory::Plan> plan;
  std::optional<HomeMap> homes;
  std::exception_ptr failure;
  try {
    plan = factory_.plan(options, type, location_caches, existing);
    homes = factory_.home_map(options, shared ? domains_ : alone_);
    spec.home_fingerprint = homes->fingerprint();
    spec.lengths_fingerprint = plan->sizes.fingerprint();
  } catch (...) {
    failure = std::current_exception();
  }
  std::optional<SharedTablePart> part;
  // Also for a sparse table: only a comparison shows that the others want it, too.
  if (!domains_.each_rank_alone()) {
    Proposal proposal{spec.encode(), transport_.free_shared_bytes(), 0, true};
    SharedTableLayout::Wish wish;
    if (shared && !failure) {
      try {
        wish = factory_.wish(*plan, *homes, domains_);
        proposal.least_bytes = SharedTableLayout::least_bytes(wish);
        proposal.possible = SharedTableLayout::is_possible(wish);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    std::vector<Proposal> proposals;
    std::vector<TableSpec> specs;
    for (const std::string& one : agree(proposal.encode(), failure)) {
      proposals.push_back(Proposal::decode(one));
      specs.push_back(TableSpec::decode(proposals.back().spec));
    }
    compare(specs);
    if (shared) part = share(options.name, wish, proposals, shared);
  }
  std::unique_ptr<TableShard> table;
  if (!failure) {
    try {
      // Fewer domains than thought: the keys are at home elsewhere.
      if (!shared && !options.sparse && !domains_.each_rank_alone()) {
        homes = factory_.home_map(options, alone_);
        spec.home_fingerprint = homes->fingerprint();
      }
      table = factory_.make(std::move(*plan), TableId(static_cast<std::uint32_t>(existing.size())),
                            {shared ? domains_ : alone_, transport_.rank(), std::move(*homes)}, part);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  try {
    std::vector<TableSpec> specs;
    for (const std::string& one : agree(spec.encode(), failure)) specs.push_back(TableSpec::decode(one));
    compare(specs);
  } catch (...) {
    // Every rank is here: nobody uses the memory any more.
    if (part) part->give_back();
    throw;
  }
  expose_owners(*table);
  return table;
}

void TableMaker::expose_owners(TableShard& table) {
  if (!owners_can_be_read_ || !transport_.has_remote_reads() || !table.may_look_up_owners()) return;
  try {
    table.set_exposed_owners(transport_.expose(std::as_bytes(table.owners())));
  } catch (const MpiError& error) {
    owners_can_be_read_ = false;
    if (transport_.rank().value() != 0) return;
    logger_.warning(
        "table '{}' and later ones: owners are not looked up by remote memory access, accesses to keys of "
        "unknown owners go by their homes: {}; with Open MPI, put OMPI_MCA_osc=sm,pt2pt,ucx into the "
        "environment before MPI_Init, or set the option rma=off",
        table.name(), error.what());
  }
}

std::optional<SharedTablePart> TableMaker::share(const std::string& name, const SharedTableLayout::Wish& wish,
                                                 const std::vector<Proposal>& proposals, bool& shared) {
  std::vector<std::uint64_t> free_bytes;
  for (const Proposal& proposal : proposals) free_bytes.push_back(proposal.free_bytes);
  const std::vector<std::size_t> shares = shares_of(domains_, transport_.hosts(), free_bytes);
  const auto give_up = [&](const std::string& reason) {
    shared = false;
    if (transport_.rank().value() == 0) {
      logger_.warning(
          "table '{}': ranks of a host do not share its memory, accesses between them go by message: {}; or "
          "set the option domain=rank",
          name, reason);
    }
    return std::nullopt;
  };
  for (std::size_t rank = 0; rank < proposals.size(); ++rank) {
    const Domain domain = domains_.domain_of(Rank(static_cast<std::int32_t>(rank)));
    if (domains_.members(domain).size() == 1) continue;
    if (!proposals[rank].possible)
      return give_up("a domain has 32 bits for the numbers of its slots; make domains smaller");
    if (proposals[rank].least_bytes > shares[domain.index()]) {
      return give_up(fmt::format(
          "words and owners of the keys need {:.1f} MB where rank {} is, {:.1f} MB can be had; {}",
          static_cast<double>(proposals[rank].least_bytes) / 1e6, rank,
          static_cast<double>(shares[domain.index()]) / 1e6, kMoreSharedMemory));
    }
  }
  const Domain self = domains_.domain_of(transport_.rank());
  const auto position = static_cast<std::size_t>(domains_.position(transport_.rank()));
  std::optional<SharedTablePart> part;
  std::string problem;
  if (domains_.members(self).size() > 1) {
    const SharedTableLayout layout = SharedTableLayout::plan(wish, shares[self.index()]);
    const auto tell = [this, name](const std::string& shortage) {
      logger_.warning(
          "table '{}' on {}: {} {}; further values lie in the private memory of their serving ranks, which "
          "their neighbours reach by message; {} or set the option domain=rank",
          name, transport_.host_name(), transport_.shared_memory_place(), shortage, kMoreSharedMemory);
    };
    if (!layout.complete && position == 0)
      tell(
          fmt::format("has room for {:.1f} MB of its values", static_cast<double>(layout.slots_bytes) / 1e6));
    try {
      std::byte* const base = transport_.allocate_shared(layout.total_bytes());
      part.emplace(
          base, layout, position, wish.home_keys, [this] { return transport_.free_shared_bytes(); },
          [complete = layout.complete, tell] {
            if (complete) tell("is full");
          });
      if (!part->commit(self))
        problem = fmt::format("{} is full; {}", transport_.shared_memory_place(), kMoreSharedMemory);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
  const std::vector<std::string> problems = agreement_.exchange("create_table", problem);
  for (const std::string& one : problems) {
    if (one.empty()) continue;
    if (part) part->give_back();
    return give_up(one);
  }
  return part;
}

}  // namespace lapse
