#include "lapse/ps/table_spec.hpp"

#include <fmt/format.h>

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <sstream>

#include "lapse/core/error.hpp"
#include "lapse/store/value_layout.hpp"

// Found by Boost.Serialization.
namespace boost::serialization {
template <class Archive>
void serialize(Archive& archive, lapse::TableSpec& spec, unsigned) {
  archive& spec.name& spec.keys& spec.sparse& spec.length& spec.lengths_fingerprint& spec.element& spec
      .initialiser& spec.seed& spec.home& spec.home_fingerprint& spec.update_rule& spec.location_caches;
}
}  // namespace boost::serialization

namespace lapse {

namespace {
constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 40;
// Words of sparse tables are numbered with 32 bits.
constexpr std::uint64_t kMaxSparseKeys = 0xffff'fffeU;
// Of a value with its state: they travel together.
constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 30;
}  // namespace

TableSpec TableSpec::from(const TableOptions& options, ElementType type, bool location_caches) {
  TableSpec spec;
  spec.name = options.name;
  spec.keys = options.keys;
  spec.sparse = options.sparse;
  spec.length = options.lengths ? 0 : options.length;
  spec.element = element_name(type);
  spec.initialiser = options.initialiser.to_string();
  spec.seed = options.seed;
  spec.home = home_map_name(options.home);
  spec.update_rule = options.update_rule.to_string();
  spec.location_caches = location_caches;
  return spec;
}

void TableSpec::check(const TableOptions& options, ElementType type) {
  if (options.sparse) {
    if (options.keys != 0) {
      throw ConfigurationError(
          fmt::format("table '{}' is sparse, any 64-bit key may come: it cannot have {} keys", options.name,
                      options.keys));
    }
    if (options.home == HomeMapKind::range) {
      throw ConfigurationError(
          fmt::format("table '{}' is sparse: its home map can be hash or custom, not range", options.name));
    }
    if (options.max_keys && (*options.max_keys == 0 || *options.max_keys > kMaxSparseKeys)) {
      throw ConfigurationError(
          fmt::format("sparse table '{}' cannot have at most {} keys on a rank: expected 1 to {}",
                      options.name, *options.max_keys, kMaxSparseKeys));
    }
  } else {
    if (options.keys == 0 || options.keys > kMaxKeys) {
      throw ConfigurationError(fmt::format("table '{}' cannot have {} keys: expected 1 to {}", options.name,
                                           options.keys, kMaxKeys));
    }
    if (options.max_keys || options.memory_limit_bytes) {
      throw ConfigurationError(
          fmt::format("table '{}' is dense: only sparse tables have limits of keys or memory", options.name));
    }
  }
  if (options.length == 0 || options.length > kMaxValueBytes / element_bytes(type)) {
    throw ConfigurationError(
        fmt::format("values of table '{}' cannot have {} elements of type {}: expected 1 to {}", options.name,
                    options.length, element_name(type), kMaxValueBytes / element_bytes(type)));
  }
  if (options.home == HomeMapKind::custom && !options.home_function) {
    throw ConfigurationError(
        fmt::format("table '{}' has a custom home map without a function", options.name));
  }
  options.initialiser.check(type);
  options.update_rule.check(type);
  const ValueLayout layout{type, options.length, options.update_rule.state_size()};
  const std::size_t state = layout.state_elements();
  if (state > kMaxValueBytes / element_bytes(type) - options.length) {
    throw ConfigurationError(fmt::format(
        "values of table '{}' cannot have {} elements of type {} with {} of state for the update rule {}: "
        "expected at most {} together",
        options.name, options.length, element_name(type), state, options.update_rule.to_string(),
        kMaxValueBytes / element_bytes(type)));
  }
}

std::string TableSpec::encode() const {
  std::ostringstream out;
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  archive << *this;
  return out.str();
}

TableSpec TableSpec::decode(const std::string& bytes) {
  std::istringstream in(bytes);
  boost::archive::binary_iarchive archive(in, boost::archive::no_header);
  TableSpec spec;
  archive >> spec;
  return spec;
}

std::optional<std::string> TableSpec::difference(const TableSpec& other) const {
  const auto differ = [](std::string_view what, const auto& a, const auto& b) -> std::optional<std::string> {
    if (a == b) return std::nullopt;
    return fmt::format("{} is '{}' against '{}'", what, a, b);
  };
  if (auto text = differ("name", name, other.name)) return text;
  if (auto text = differ("number of keys", keys, other.keys)) return text;
  if (auto text = differ("sparse", sparse, other.sparse)) return text;
  if (auto text = differ("length", length, other.length)) return text;
  if (auto text = differ("fingerprint of the lengths", lengths_fingerprint, other.lengths_fingerprint))
    return text;
  if (auto text = differ("element type", element, other.element)) return text;
  if (auto text = differ("initialiser", initialiser, other.initialiser)) return text;
  if (auto text = differ("seed", seed, other.seed)) return text;
  if (auto text = differ("home map", home, other.home)) return text;
  if (auto text = differ("fingerprint of the custom home map", home_fingerprint, other.home_fingerprint))
    return text;
  if (auto text = differ("update rule", update_rule, other.update_rule)) return text;
  return differ("location caches", location_caches, other.location_caches);
}

}  // namespace lapse
