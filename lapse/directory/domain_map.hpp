// Which rank belongs to which domain, and which rank of a domain serves a key.
#pragma once

#include <cstdint>

#include "lapse/core/types.hpp"

namespace lapse {

// A pure function of the number of ranks and of ranks per domain; equal on every rank. Ranks of a domain are
// consecutive; the last domain may be smaller.
class DomainMap {
 public:
  // Throws ConfigurationError when a number is not positive.
  DomainMap(std::int32_t ranks, std::int32_t ranks_per_domain);

  std::int32_t ranks() const { return ranks_; }
  std::int32_t domains() const { return (ranks_ + ranks_per_domain_ - 1) / ranks_per_domain_; }

  Domain domain_of(Rank rank) const { return Domain(rank.value() / ranks_per_domain_); }
  Rank first_rank(Domain domain) const { return Rank(domain.value() * ranks_per_domain_); }
  std::int32_t size(Domain domain) const;

  // The rank whose engine handles messages about `key` for `domain`: slice(key) modulo the domain's size. The
  // slice does not depend on the domain, so that equal domains talk slice to slice.
  Rank serving_rank(Key key, Domain domain) const {
    if (ranks_per_domain_ == 1) return first_rank(domain);
    return Rank(first_rank(domain).value() +
                static_cast<std::int32_t>(slice(key) % static_cast<std::uint64_t>(size(domain))));
  }

  static std::uint64_t slice(Key key);

 private:
  std::int32_t ranks_;
  std::int32_t ranks_per_domain_;
};

}  // namespace lapse
