// Which domain is the home of a key. The home records the owner, and owns the key at the start.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/invariant_divisor.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/home_map_kind.hpp"

namespace lapse {

// A pure function of key, number of keys and number of domains; equal on every rank. Numbers each domain's
// keys 0, 1, 2, … ("home index"), so that the ownership table is an array without gaps.
class HomeMap {
 public:
  // f(key) is the home domain's number. It must be pure and the same on every rank.
  using Function = HomeFunction;

  static HomeMap hash(std::uint64_t keys, std::int32_t domains, Domain self);
  static HomeMap range(std::uint64_t keys, std::int32_t domains, Domain self);
  // The same kinds for tables whose keys are not known in advance (any 64 bits): there is no home index.
  static HomeMap sparse_hash(std::int32_t domains, Domain self);
  static HomeMap sparse_custom(std::int32_t domains, Domain self, Function f);
  // Calls f once for every key; throws ConfigurationError if it returns a domain that does not exist. If
  // `said` is given, the fingerprint is computed from its numbers for the keys instead of f's.
  static HomeMap custom(std::uint64_t keys, std::int32_t domains, Domain self, Function f,
                        const Function& said = {});

  HomeMapKind kind() const { return kind_; }
  Domain self() const { return self_; }
  // Throws ConfigurationError if a custom function returns a domain that does not exist (sparse tables; for
  // dense tables `custom` has checked every key).
  Domain home(Key key) const {
    if (domains_.divisor() == 1 && !is_sparse_custom()) return Domain(0);
    if (is_dense_hash()) [[likely]]
      return hash_home(domains_, key);
    if (kind_ == HomeMapKind::range) return Domain(static_cast<std::int32_t>(block_.quotient(key.value())));
    return rare_home(key);
  }
  // The homes of many keys.
  void homes(std::span<const Key> keys, Domain* homes) const;

  // Number of keys whose home is this domain.
  std::uint64_t own_keys() const { return own_keys_; }
  // Position of `key` among the keys of its home. Requires home(key) == self().
  std::uint64_t home_index(Key key) const {
    if (kind_ == HomeMapKind::hash) [[likely]]
      return domains_.quotient(key.value());
    return kind_ == HomeMapKind::range ? key.value() - block_.divisor() * self_.index() : custom_index(key);
  }
  // Whether home_index costs at most a division; with a custom function it is a binary search.
  bool computes_index() const { return kind_ != HomeMapKind::custom; }
  // Position of `key` among the keys of its home, for any domain; nullopt if only the home can compute it
  // (custom), or no domain can (sparse).
  std::optional<std::uint64_t> index_at_home(Key key) const;
  // Calls f(key) for each key whose home is this domain, in ascending order.
  template <class F>
  void for_each_own_key(F&& f) const {
    for (std::uint64_t index = 0; index < own_keys_; ++index) f(own_key(index));
  }
  // A number that differs, with high probability, if two ranks' custom functions differ; 0 for the other
  // kinds.
  std::uint64_t fingerprint() const { return fingerprint_; }
  // Bytes this map uses besides constants.
  std::size_t bytes() const { return own_list_.capacity() * sizeof(std::uint64_t); }

 private:
  HomeMap(HomeMapKind kind, std::uint64_t keys, std::int32_t domains, Domain self);
  bool is_sparse_custom() const { return sparse_ && kind_ == HomeMapKind::custom; }
  bool is_dense_hash() const { return kind_ == HomeMapKind::hash && !sparse_; }
  // Keys g*D to g*D + D-1 go to D different domains, rotated by an amount that looks random in g.
  static std::uint64_t turn_of(std::uint64_t group, std::uint64_t domains) {
    return ((mix_bits(group) >> 32U) * domains) >> 32U;
  }
  static Domain hash_home(const InvariantDivisor& domains, Key key) {
    const std::uint64_t group = domains.quotient(key.value());
    const std::uint64_t place = key.value() - group * domains.divisor() + turn_of(group, domains.divisor());
    return Domain(static_cast<std::int32_t>(place < domains.divisor() ? place : place - domains.divisor()));
  }
  Key own_key(std::uint64_t index) const;
  // The home in a sparse table, or by a custom function.
  LAPSE_EXPORT_INNER Domain rare_home(Key key) const;
  Domain custom_home(Key key) const;
  std::uint64_t custom_index(Key key) const;

  HomeMapKind kind_;
  InvariantDivisor domains_;
  Domain self_;
  bool sparse_ = false;
  InvariantDivisor block_;  // range: keys per domain
  std::uint64_t own_keys_ = 0;
  Function function_;                    // custom
  std::vector<std::uint64_t> own_list_;  // custom: own keys in ascending order
  std::uint64_t fingerprint_ = 0;
};

}  // namespace lapse
