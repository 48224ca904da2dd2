#include "lapse/protocol/modules/domain_peers.hpp"

#include <algorithm>

#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

std::vector<Rank> members_of_domain(const Registry& registry) {
  std::vector<Rank> members;
  for (const auto& table : registry.tables()) {
    if (!table->store().may_have_copies()) continue;
    for (const Rank rank : table->definition().domains.members(table->self_domain()))
      if (std::ranges::find(members, rank) == members.end()) members.push_back(rank);
  }
  return members;
}

std::vector<Rank> peers_of(const Registry& registry) {
  std::vector<Rank> peers;
  for (std::int32_t number = 0; number < registry.ranks(); ++number) {
    const Rank rank(number);
    const bool is_peer = std::ranges::any_of(registry.tables(), [&](const auto& table) {
      const DomainMap& domains = table->definition().domains;
      return table->store().may_have_copies() && domains.domain_of(rank) != table->self_domain() &&
             domains.may_serve_same_key(registry.self(), rank);
    });
    if (is_peer) peers.push_back(rank);
  }
  return peers;
}

}  // namespace lapse
