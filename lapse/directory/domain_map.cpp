#include "lapse/directory/domain_map.hpp"

#include <fmt/format.h>

#include <numeric>
#include <unordered_map>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse {

DomainMap DomainMap::of_ranks(std::int32_t ranks) {
  if (ranks < 1) throw ConfigurationError(fmt::format("domains of {} ranks: at least 1 is needed", ranks));
  std::vector<std::int32_t> hosts(static_cast<std::size_t>(ranks));
  std::iota(hosts.begin(), hosts.end(), 0);
  return of_hosts(hosts);
}

DomainMap DomainMap::of_hosts(std::span<const std::int32_t> hosts, std::int32_t max_ranks) {
  if (hosts.empty() || max_ranks < 1) {
    throw ConfigurationError(
        fmt::format("{} ranks in domains of {}: both must be at least 1", hosts.size(), max_ranks));
  }
  // The domain of each host that is not full.
  std::unordered_map<std::int32_t, std::size_t> open;
  std::vector<std::vector<Rank>> domains;
  DomainMap map;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto [entry, is_new] = open.try_emplace(hosts[rank], domains.size());
    if (is_new || domains[entry->second].size() == static_cast<std::size_t>(max_ranks)) {
      entry->second = domains.size();
      domains.emplace_back();
    }
    std::vector<Rank>& members = domains[entry->second];
    map.places_.push_back(
        {Domain(static_cast<std::int32_t>(entry->second)), static_cast<std::int32_t>(members.size())});
    members.push_back(Rank(static_cast<std::int32_t>(rank)));
  }
  map.first_.push_back(0);
  for (const std::vector<Rank>& members : domains) {
    map.members_.insert(map.members_.end(), members.begin(), members.end());
    map.first_.push_back(map.members_.size());
  }
  return map;
}

bool DomainMap::may_serve_same_key(Rank a, Rank b) const {
  // Of n members, the one at position p serves the slices from p / n to (p + 1) / n of all.
  const std::uint64_t of_a = members(domain_of(a)).size();
  const std::uint64_t of_b = members(domain_of(b)).size();
  const auto at_a = static_cast<std::uint64_t>(position(a));
  const auto at_b = static_cast<std::uint64_t>(position(b));
  return at_a * of_b < (at_b + 1) * of_a && at_b * of_a < (at_a + 1) * of_b;
}

std::uint64_t DomainMap::slice(Key key) {
  return mix_bits(key.value()) >> 32U;
}

}  // namespace lapse
