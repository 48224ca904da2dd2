// Which ranks form a domain, and which rank of a domain serves a key.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Equal on every rank and immutable. Domains are numbered by their lowest ranks, the members of a domain in
// rank order.
class DomainMap {
 public:
  static constexpr std::int32_t kNoLimit = std::numeric_limits<std::int32_t>::max();

  // Each rank is its own domain. Throws ConfigurationError if there are no ranks.
  static DomainMap of_ranks(std::int32_t ranks);
  // The ranks of each host together, or in groups of `max_ranks` in rank order; hosts[r] is a number for rank
  // r's host. Throws ConfigurationError if there are no ranks or `max_ranks` is not positive.
  static DomainMap of_hosts(std::span<const std::int32_t> hosts, std::int32_t max_ranks = kNoLimit);

  std::int32_t ranks() const { return static_cast<std::int32_t>(places_.size()); }
  std::int32_t domains() const { return static_cast<std::int32_t>(first_.size()) - 1; }
  // Whether no two ranks share a domain.
  bool each_rank_alone() const { return domains() == ranks(); }

  // The only member of a domain. Requires each_rank_alone().
  Rank rank_alone(Domain domain) const { return members_[domain.index()]; }

  Domain domain_of(Rank rank) const { return places_[rank.index()].domain; }
  // Position of the rank among the members of its domain.
  std::int32_t position(Rank rank) const { return places_[rank.index()].position; }
  std::span<const Rank> members(Domain domain) const {
    return {members_.data() + first_[domain.index()], first_[domain.index() + 1] - first_[domain.index()]};
  }

  // The rank whose engine handles messages about `key` for `domain`. It serves a slice of the keys; the slice
  // does not depend on the domain, so domains of equal size communicate slice by slice.
  Rank serving_rank(Key key, Domain domain) const {
    const std::size_t first = first_[domain.index()];
    const std::uint64_t size = first_[domain.index() + 1] - first;
    if (size == 1) return members_[first];
    return members_[first + slice(key) * size / kSlices];
  }
  // False: no key is served by both ranks, each for its domain.
  bool may_serve_same_key(Rank a, Rank b) const;

 private:
  static constexpr std::uint64_t kSlices = std::uint64_t{1} << 32;

  struct Place {
    Domain domain;
    std::int32_t position = 0;
  };

  // A number from 0 to kSlices - 1.
  LAPSE_EXPORT_INNER static std::uint64_t slice(Key key);

  std::vector<Place> places_;       // by rank
  std::vector<std::size_t> first_;  // by domain: index of its first member; last: the number of members
  std::vector<Rank> members_;
};

}  // namespace lapse
