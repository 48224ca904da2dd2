#include "lapse/directory/home_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"

namespace lapse {

std::string_view home_map_name(HomeMapKind kind) {
  switch (kind) {
    case HomeMapKind::hash:
      return "hash";
    case HomeMapKind::range:
      return "range";
    case HomeMapKind::custom:
      return "custom";
  }
  return "unknown";
}

HomeMap::HomeMap(HomeMapKind kind, std::uint64_t keys, std::int32_t domains, Domain self)
    : kind_(kind),
      domains_(static_cast<std::uint64_t>(domains)),
      self_(self),
      block_(std::max<std::uint64_t>(1, domains_.quotient(keys) + (domains_.remainder(keys) != 0 ? 1 : 0))) {}

HomeMap HomeMap::hash(std::uint64_t keys, std::int32_t domains, Domain self) {
  HomeMap map(HomeMapKind::hash, keys, domains, self);
  map.own_keys_ = map.domains_.quotient(keys);
  for (std::uint64_t key = map.own_keys_ * map.domains_.divisor(); key < keys; ++key) {
    if (map.home(Key(key)) == self) ++map.own_keys_;
  }
  return map;
}

HomeMap HomeMap::range(std::uint64_t keys, std::int32_t domains, Domain self) {
  HomeMap map(HomeMapKind::range, keys, domains, self);
  const std::uint64_t first = std::min(keys, map.block_.divisor() * self.index());
  map.own_keys_ = std::min(keys, first + map.block_.divisor()) - first;
  return map;
}

HomeMap HomeMap::sparse_hash(std::int32_t domains, Domain self) {
  HomeMap map(HomeMapKind::hash, 0, domains, self);
  map.sparse_ = true;
  return map;
}

HomeMap HomeMap::sparse_custom(std::int32_t domains, Domain self, Function f) {
  HomeMap map(HomeMapKind::custom, 0, domains, self);
  map.sparse_ = true;
  map.function_ = std::move(f);
  if (!map.function_) throw ConfigurationError("home map 'custom' needs a function");
  return map;
}

HomeMap HomeMap::custom(std::uint64_t keys, std::int32_t domains, Domain self, Function f,
                        const Function& said) {
  HomeMap map(HomeMapKind::custom, keys, domains, self);
  map.function_ = std::move(f);
  if (!map.function_) throw ConfigurationError("home map 'custom' needs a function");
  for (std::uint64_t key = 0; key < keys; ++key) {
    const Domain home = map.custom_home(Key(key));
    if (home == self) map.own_list_.push_back(key);
    const std::int32_t number = said ? said(Key(key)) : home.value();
    map.fingerprint_ = mix_bits(map.fingerprint_ + static_cast<std::uint64_t>(number) + 1);
  }
  map.own_list_.shrink_to_fit();
  map.own_keys_ = map.own_list_.size();
  return map;
}

void HomeMap::homes(std::span<const Key> keys, Domain* homes) const {
  if (is_dense_hash() && domains_.divisor() != 1) {
    const InvariantDivisor domains = domains_;
    for (std::size_t i = 0; i < keys.size(); ++i) homes[i] = hash_home(domains, keys[i]);
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) homes[i] = home(keys[i]);
}

Domain HomeMap::custom_home(Key key) const {
  const std::int32_t home = function_(key);
  if (home < 0 || static_cast<std::uint64_t>(home) >= domains_.divisor()) {
    throw ConfigurationError(fmt::format("the custom home map gives domain {} for key {}: expected 0 to {}",
                                         home, key.value(), domains_.divisor() - 1));
  }
  return Domain(home);
}

Domain HomeMap::rare_home(Key key) const {
  // Uses other bits than those that a hash table of the keys uses first.
  if (kind_ == HomeMapKind::hash)
    return Domain(static_cast<std::int32_t>(domains_.remainder(mix_bits(key.value()) >> 32U)));
  return sparse_ ? custom_home(key) : Domain(function_(key));
}

std::uint64_t HomeMap::custom_index(Key key) const {
  const auto found = std::lower_bound(own_list_.begin(), own_list_.end(), key.value());
  return static_cast<std::uint64_t>(found - own_list_.begin());
}

std::optional<std::uint64_t> HomeMap::index_at_home(Key key) const {
  if (sparse_) return std::nullopt;
  switch (kind_) {
    case HomeMapKind::hash:
      return domains_.quotient(key.value());
    case HomeMapKind::range:
      return block_.remainder(key.value());
    case HomeMapKind::custom:
      break;
  }
  return std::nullopt;
}

Key HomeMap::own_key(std::uint64_t index) const {
  switch (kind_) {
    case HomeMapKind::hash: {
      const std::uint64_t domains = domains_.divisor();
      const std::uint64_t place = self_.index() + domains - turn_of(index, domains);
      return Key(index * domains + (place < domains ? place : place - domains));
    }
    case HomeMapKind::range:
      return Key(block_.divisor() * self_.index() + index);
    case HomeMapKind::custom:
      break;
  }
  return Key(own_list_[index]);
}

}  // namespace lapse
