// The properties of a table, in a form that ranks can compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/ps/table.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// The limits of pushes in the options.
inline Consistency consistency_of(const TableOptions& options) {
  return options.consistency.value_or(Consistency::sequential);
}
inline PushLimits limits_of(const TableOptions& options) {
  return {.not_finite = options.not_finite, .max_norm = options.max_push_norm};
}

// Everything that all ranks must agree on. Functions cannot be compared: instead this compares whether there
// is one and, for a custom home map, a fingerprint of its results for all keys.
struct TableSpec {
  std::string name;
  std::uint64_t keys = 0;
  bool sparse = false;
  std::uint64_t length = 0;               // 0 if each key has its own
  std::uint64_t lengths_fingerprint = 0;  // of a dense table's own lengths
  std::string max_keys;                   // numbers, or "none"
  std::string memory_limit;
  std::string element;
  std::string initialiser;
  std::uint64_t seed = 0;
  std::string home;
  std::uint64_t home_fingerprint = 0;
  std::string update_rule;
  bool location_caches = true;
  std::string consistency;
  std::string not_finite;
  std::string max_push_norm;  // a number, or "none"

  static TableSpec from(const TableOptions& options, ElementType type, bool location_caches);

  // Throws ConfigurationError for sizes that no table can have.
  static void check(const TableOptions& options, ElementType type);

  bool operator==(const TableSpec&) const = default;
  // Returns the first difference, in words; nullopt if equal.
  std::optional<std::string> difference(const TableSpec& other) const;

  // Calls visit(name in messages, pointer to member) for every field.
  template <class Visit>
  static void for_each_field(Visit&& visit) {
    visit("name", &TableSpec::name);
    visit("number of keys", &TableSpec::keys);
    visit("sparse", &TableSpec::sparse);
    visit("length", &TableSpec::length);
    visit("fingerprint of the lengths", &TableSpec::lengths_fingerprint);
    visit("max_keys", &TableSpec::max_keys);
    visit("memory_limit_bytes", &TableSpec::memory_limit);
    visit("element type", &TableSpec::element);
    visit("initialiser", &TableSpec::initialiser);
    visit("seed", &TableSpec::seed);
    visit("home map", &TableSpec::home);
    visit("fingerprint of the custom home map", &TableSpec::home_fingerprint);
    visit("update rule", &TableSpec::update_rule);
    visit("location caches", &TableSpec::location_caches);
    visit("consistency", &TableSpec::consistency);
    visit("not_finite", &TableSpec::not_finite);
    visit("max_push_norm", &TableSpec::max_push_norm);
  }
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    for_each_field([&](std::string_view, auto field) { archive& this->*field; });
  }
};

}  // namespace lapse
