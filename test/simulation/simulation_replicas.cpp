// The checks that a simulation makes of replicas, and its faults.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "test/simulation/frame_fault.hpp"
#include "test/simulation/simulation.hpp"
#include "test/support/replicas_at_rest.hpp"

namespace lapse::test {

void Simulation::handle_faulty(Rank from, Rank to, std::span<const std::byte> packet) {
  SimulatedRank& rank = *ranks_[to.index()];
  deliver_with_fault(
      *fault_, packet,
      [&](const FrameHeader& header) {
        TableShard& table = rank.table(header.table);
        return table.copies() != nullptr ? &table : nullptr;
      },
      [&](std::span<const std::byte> piece) { rank.handle_packet(from, piece); });
}

void Simulation::check_replicas() {
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < scenario_.shape.keys; ++number)
    keys.push_back(scenario_.shape.name(Key(number)));
  for (std::size_t number = 0; number < SimulatedRank::kTables; ++number) {
    const bool replicable = number == 0 && scenario_.counter_rules().eventual;
    std::vector<const TableShard*> shards;
    for (const auto& rank : ranks_) shards.push_back(&rank->table(number));
    const auto wants = [&](Domain domain, Key key) {
      return replicable && std::ranges::any_of(domains_.members(domain), [&](Rank rank) {
               SimulatedRank& of = *ranks_[rank.index()];
               const AccessedKeys* const accessed = of.table(0).accessed();
               return of.intents().wanted(shards[0]->id(), key) ||
                      (accessed != nullptr && accessed->has(key));
             });
    };
    replicas_ += check_replicas_at_rest(shards, keys, wants);
    const bool converges = replicable && scenario_.replication &&
                           scenario_.replication->technique == Technique::adaptive && !scenario_.refusals &&
                           !scenario_.little_memory;
    if (converges) check_only_domains(shards, keys, wants);
  }
}

void Simulation::check_only_domains(std::span<const TableShard* const> shards, std::span<const Key> keys,
                                    const std::function<bool(Domain, Key)>& wants) const {
  for (const Key key : keys) {
    std::vector<Domain> wanting;
    std::optional<Domain> owner;
    for (std::int32_t number = 0; number < domains_.domains(); ++number) {
      const Domain domain(number);
      if (wants(domain, key)) wanting.push_back(domain);
      if (shards[domains_.serving_rank(key, domain).index()]->store().word(key).role() == Role::owner)
        owner = domain;
    }
    // A key of a sparse table may not exist yet.
    if (wanting.size() != 1 || !owner || *owner == wanting.front()) continue;
    throw InvariantViolation(
        fmt::format("at rest, domain {} is the only one that wants key {}, which domain {} owns",
                    wanting.front().value(), key.value(), owner->value()));
  }
}

}  // namespace lapse::test
