#include "lapse/directory/domain_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse {

DomainMap::DomainMap(std::int32_t ranks, std::int32_t ranks_per_domain)
    : ranks_(ranks), ranks_per_domain_(ranks_per_domain) {
  if (ranks < 1 || ranks_per_domain < 1) {
    throw ConfigurationError(
        fmt::format("{} ranks in domains of {}: both must be at least 1", ranks, ranks_per_domain));
  }
}

std::int32_t DomainMap::size(Domain domain) const {
  return std::min(ranks_per_domain_, ranks_ - domain.value() * ranks_per_domain_);
}

std::uint64_t DomainMap::slice(Key key) {
  return mix_bits(key.value());
}

}  // namespace lapse
