#include "lapse/ps/tables/table_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/transport/host/shared_memory.hpp"
#include "lapse/transport/host/shared_memory_remedies.hpp"
#include "lapse/transport/mpi/library/mpi_library.hpp"
#include "lapse/transport/rma/remote_reads.hpp"

namespace lapse {

namespace {

constexpr std::string_view kCall = "create_table";

double megabytes(std::size_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

}  // namespace

std::unique_ptr<TableShard> TableMaker::make(const TableOptions& options, ElementType type,
                                             bool location_caches,
                                             const std::vector<std::unique_ptr<TableShard>>& existing) {
  const auto make_proposal = [&] { return propose(options, type, location_caches, existing); };
  const TableId id(static_cast<std::uint32_t>(existing.size()));
  if (const auto share = TableFactory::address_share(options); share && transport_.rank() == Rank(0))
    logger_.warning("table '{}': {}", options.name, TableFactory::share_text(*share));
  if (domains_.each_rank_alone()) return build(id, make_proposal, {.domains = alone_});
  // Also for a sparse table: only a comparison shows that the other ranks propose a sparse table, too.
  Agreed agreed = agree(make_proposal);
  const Placement placement = allocate(agreed);
  return build(
      id, [&] { return std::move(agreed.proposal); }, placement);
}

ParameterServer::MemoryUse TableMaker::estimate(const TableOptions& options, ElementType type) const {
  return factory_.estimate(options, type, options.sparse ? alone_ : domains_);
}

TableMaker::Proposal TableMaker::propose(const TableOptions& options, ElementType type, bool location_caches,
                                         const std::vector<std::unique_ptr<TableShard>>& existing) const {
  const bool shared = !options.sparse && !domains_.each_rank_alone();
  const DomainMap& domains = shared ? domains_ : alone_;
  Proposal proposal{.plan = factory_.plan(options, type, location_caches, existing),
                    .domains = domains,
                    .homes = factory_.home_map(options, domains),
                    .spec = TableSpec::from(options, type, location_caches)};
  proposal.spec.lengths_fingerprint = proposal.plan.sizes.fingerprint();
  proposal.spec.home_fingerprint = proposal.homes.fingerprint();
  if (shared) proposal.request = factory_.request(proposal.plan, proposal.homes, domains);
  return proposal;
}

TableMaker::Agreed TableMaker::agree(const std::function<Proposal()>& make_proposal) {
  std::optional<Proposal> proposal;
  std::vector<Offer> offers = agreement_.exchange(kCall, [&] {
    const Proposal& own = proposal.emplace(make_proposal());
    return Offer{.spec = own.spec,
                 .free_bytes = transport_.shared_memory()->free_bytes(),
                 .min_bytes = SharedTableLayout::min_bytes(own.request),
                 .possible = SharedTableLayout::is_possible(own.request)};
  });
  std::vector<TableSpec> specs;
  specs.reserve(offers.size());
  for (const Offer& offer : offers) specs.push_back(offer.spec);
  require_equal(specs);
  return {.proposal = std::move(*proposal), .offers = std::move(offers)};
}

TableMaker::Placement TableMaker::allocate(const Agreed& agreed) {
  const TableOptions& options = agreed.proposal.plan.options;
  if (options.sparse) return {.domains = alone_};
  const std::vector<std::size_t> limits = memory_limits(agreed.offers);
  std::optional<std::string> obstacle = sharing_obstacle(agreed.offers, limits);
  if (!obstacle) {
    Allocation own = allocate_part(agreed.proposal, limits[agreed.proposal.homes.self().index()]);
    const auto problems = agreement_.exchange(kCall, [&] {
      if (own.problem.empty() && own.part) own.problem = commit(*own.part, agreed.proposal.homes.self());
      return own.problem;
    });
    const auto problem = std::ranges::find_if_not(problems, &std::string::empty);
    if (problem == problems.end()) return {.domains = domains_, .part = std::move(own.part)};
    if (own.part) own.part->give_back();
    obstacle = *problem;
  }
  if (transport_.rank().value() == 0) {
    logger_.warning(
        "table '{}': ranks of a host do not share its memory, accesses between them go by message: {}; or "
        "set the option domain=rank",
        options.name, *obstacle);
  }
  return {.domains = alone_};
}

std::unique_ptr<TableShard> TableMaker::build(TableId id, const std::function<Proposal()>& make_proposal,
                                              const Placement& placement) {
  std::unique_ptr<TableShard> table;
  try {
    require_equal(agreement_.exchange(kCall, [&] {
      Proposal proposal = make_proposal();
      if (&proposal.domains != &placement.domains) {
        // The domains are smaller than proposed, so the keys have other homes.
        proposal.homes = factory_.home_map(proposal.plan.options, placement.domains);
        proposal.spec.home_fingerprint = proposal.homes.fingerprint();
      }
      table = factory_.make(
          std::move(proposal.plan), id,
          {.domains = placement.domains, .rank = transport_.rank(), .homes = std::move(proposal.homes)},
          placement.part);
      return std::move(proposal.spec);
    }));
  } catch (...) {
    // Every rank fails, so none uses the memory any more.
    if (placement.part) placement.part->give_back();
    throw;
  }
  expose_owners(*table);
  return table;
}

void TableMaker::require_equal(const std::vector<TableSpec>& specs) {
  agreement_.require_equal<CollectiveMismatch>(
      specs, [](const TableSpec& first, const TableSpec& other, std::size_t rank) {
        return fmt::format("create_table was called differently on ranks 0 and {}: {}", rank,
                           *first.difference(other));
      });
}

std::vector<std::size_t> TableMaker::memory_limits(const std::vector<Offer>& offers) const {
  constexpr std::uint64_t kOverhead = std::uint64_t{2} << 20;  // of a window, generously
  const std::vector<std::int32_t> hosts = transport_.hosts();
  std::vector<std::size_t> limits;
  for (std::int32_t domain = 0; domain < domains_.domains(); ++domain) {
    const std::int32_t host = hosts[domains_.members(Domain(domain))[0].index()];
    std::set<Domain> neighbours;
    std::uint64_t free = UINT64_MAX;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      if (hosts[rank] != host) continue;
      neighbours.insert(domains_.domain_of(Rank(static_cast<std::int32_t>(rank))));
      free = std::min(free, offers[rank].free_bytes);
    }
    // Leaves the rest to other programs.
    const std::uint64_t share = free / 10 * 9 / neighbours.size();
    limits.push_back(share > kOverhead ? share - kOverhead : 0);
  }
  return limits;
}

std::optional<std::string> TableMaker::sharing_obstacle(const std::vector<Offer>& offers,
                                                        const std::vector<std::size_t>& limits) const {
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    const Domain domain = domains_.domain_of(Rank(static_cast<std::int32_t>(rank)));
    if (domains_.members(domain).size() == 1) continue;
    if (!offers[rank].possible)
      return "a domain has 32 bits for the numbers of its slots; make domains smaller";
    if (offers[rank].min_bytes > limits[domain.index()]) {
      return fmt::format(
          "slot words and owners of the keys need {:.1f} MB on the host of rank {}, {:.1f} MB are available; "
          "{}",
          megabytes(offers[rank].min_bytes), rank, megabytes(limits[domain.index()]), kMoreSharedMemory);
    }
  }
  return std::nullopt;
}

TableMaker::Allocation TableMaker::allocate_part(const Proposal& proposal, std::size_t max_bytes) {
  const Domain self = proposal.homes.self();
  if (domains_.members(self).size() == 1) return {};
  const auto position = static_cast<std::size_t>(domains_.position(transport_.rank()));
  const auto layout = SharedTableLayout::plan(proposal.request, max_bytes);
  const auto notify = [this, name = proposal.plan.options.name](const std::string& shortage) {
    logger_.warning(
        "table '{}' on {}: {} {}; further values are stored in the private memory of their serving ranks, "
        "which their neighbours reach by message; {} or set the option domain=rank",
        name, transport_.host_name(), transport_.shared_memory()->place(), shortage, kMoreSharedMemory);
  };
  if (!layout.complete && position == 0)
    notify(fmt::format("has room for {:.1f} MB of its values", megabytes(layout.slots_bytes)));
  Allocation allocation;
  try {
    allocation.part.emplace(
        transport_.shared_memory()->allocate(layout.total_bytes()), layout, position,
        proposal.request.home_keys, [this] { return transport_.shared_memory()->free_bytes(); },
        [notified = !layout.complete, notify] {
          if (!notified) notify("is full");
        });
  } catch (const std::exception& error) {
    allocation.problem = error.what();
  }
  return allocation;
}

std::string TableMaker::commit(SharedTablePart& part, Domain self) const {
  try {
    if (part.commit(self)) return {};
    return fmt::format("{} is full; {}", transport_.shared_memory()->place(), kMoreSharedMemory);
  } catch (const std::exception& error) {
    return error.what();
  }
}

void TableMaker::expose_owners(TableShard& table) {
  RemoteReads* const reads = transport_.remote_reads();
  if (!owners_can_be_read_ || reads == nullptr || !table.may_look_up_owners()) return;
  progress_role.assert_held();  // No engine runs.
  try {
    table.set_exposed_owners(reads->expose(std::as_bytes(table.owners())));
  } catch (const MpiError& error) {
    owners_can_be_read_ = false;
    if (transport_.rank().value() != 0) return;
    const std::string_view remedy = mpi_library().windows_remedy;
    logger_.warning(
        "table '{}' and later ones: owners are not read by remote memory access, accesses to keys of "
        "unknown owners go by their homes: {}; {}{}set the option rma=off",
        table.name(), error.what(), remedy, remedy.empty() ? "" : ", or ");
  }
}

}  // namespace lapse
