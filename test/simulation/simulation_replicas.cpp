// What a simulation checks of replicas.
#include <algorithm>
#include <vector>

#include "test/simulation/simulation.hpp"
#include "test/support/replicas_at_rest.hpp"

namespace lapse::test {

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
               return ranks_[rank.index()]->intents().wanted(shards[0]->id(), key);
             });
    };
    replicas_ += check_replicas_at_rest(shards, keys, wants);
  }
}

}  // namespace lapse::test
