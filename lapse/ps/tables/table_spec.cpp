#include "lapse/ps/tables/table_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "lapse/consistency/push_magnitude.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/core/utf8.hpp"
#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/values/value_layout.hpp"

namespace lapse {

namespace {

constexpr std::uint64_t kMaxKeys = limits::kDenseKeys;
// Slot words of sparse tables have 32-bit numbers.
constexpr std::uint64_t kMaxSparseKeys = limits::kSparseKeys;
constexpr std::size_t kMaxNameBytes = 65536;  // as in files of checkpoints
// Of a value and its optimizer state, which travel together.
constexpr std::uint64_t kMaxValueBytes = limits::kValueBytes;

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw ConfigurationError(fmt::format(text, std::forward<Arguments>(arguments)...));
}

// Messages, checkpoints and other languages treat names as text.
void check_name(const std::string& name) {
  if (name.size() > kMaxNameBytes) {
    refuse("the name of a table has {} bytes, expected at most {}: '{}...'", name.size(), kMaxNameBytes,
           name.substr(0, 20));
  }
  const std::size_t valid = valid_utf8_bytes(name);
  if (valid == name.size()) return;
  std::string shown = name;
  std::ranges::replace_if(
      shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  refuse("the name of table '{}' is not UTF-8: byte {} is {:#04x}", shown, valid + 1,
         static_cast<unsigned char>(name[valid]));
}

void check_sparse(const TableOptions& options) {
  if (options.keys != 0) {
    refuse("table '{}' is sparse, any 64-bit key may occur: it cannot have {} keys", options.name,
           options.keys);
  }
  if (options.home == HomeMapKind::range)
    refuse("table '{}' is sparse: its home map can be hash or custom, not range", options.name);
  if (options.max_keys && (*options.max_keys == 0 || *options.max_keys > kMaxSparseKeys)) {
    refuse("sparse table '{}' cannot have at most {} keys on a rank: expected 1 to {}", options.name,
           *options.max_keys, kMaxSparseKeys);
  }
}

void check_dense(const TableOptions& options) {
  if (options.keys == 0 || options.keys > kMaxKeys)
    refuse("table '{}' cannot have {} keys: expected 1 to {}", options.name, options.keys, kMaxKeys);
  if (options.max_keys || options.memory_limit_bytes)
    refuse("table '{}' is dense: only sparse tables have limits of keys or memory", options.name);
}

void check_values(const TableOptions& options, ElementType type) {
  const std::uint64_t max_elements = kMaxValueBytes / element_bytes(type);
  if (options.length == 0 || options.length > max_elements) {
    refuse("values of table '{}' cannot have {} elements of type {}: expected 1 to {}", options.name,
           options.length, element_name(type), max_elements);
  }
  options.initialiser.check(type);
  options.update_rule.check(type);
  limits_of(options).check(options.name, type);
  const ValueLayout layout{.type = type, .length = options.length, .state = options.update_rule.state_size()};
  if (layout.state_elements() > max_elements - options.length) {
    refuse(
        "values of table '{}' cannot have {} elements of type {} with {} of state for the update rule {}: "
        "expected at most {} together",
        options.name, options.length, element_name(type), layout.state_elements(),
        options.update_rule.to_string(), max_elements);
  }
}

void check_consistency(const TableOptions& options) {
  const Consistency consistency = consistency_of(options);
  const UpdateRule& rule = options.update_rule;
  if (consistency.replicates_accessed() && rule.merge() == Merge::none) {
    refuse(
        "table '{}' cannot be {}: it replicates keys, and pushes to replicas cannot be merged by the update "
        "rule {}",
        options.name, consistency.to_string(), rule.to_string());
  }
  if (consistency.value_bound() && !bounds_changes(rule)) {
    refuse(
        "table '{}' cannot be {}: how much a push changes a value does not follow from the push with the "
        "update rule {}; expected add, adagrad, or sgd without l2",
        options.name, consistency.to_string(), rule.to_string());
  }
}

template <class Number>
std::string limit_text(const std::optional<Number>& limit) {
  return limit ? fmt::format("{}", *limit) : "none";
}

// For a custom rule, includes what the layout of values in memory and messages depends on.
std::string rule_text(const TableOptions& options) {
  const UpdateRule& rule = options.update_rule;
  if (rule.kind() != UpdateRuleKind::custom) return rule.to_string();
  constexpr std::array kMerges{"additive_slot", "gradient", "none"};
  return fmt::format("{} with {} elements of state, merged as {}", rule.to_string(),
                     rule.state_elements(options.length), kMerges[static_cast<std::size_t>(rule.merge())]);
}

}  // namespace

TableSpec TableSpec::from(const TableOptions& options, ElementType type, bool location_caches) {
  return {.name = options.name,
          .keys = options.keys,
          .sparse = options.sparse,
          .length = options.lengths ? 0 : options.length,
          .max_keys = limit_text(options.max_keys),
          .memory_limit = limit_text(options.memory_limit_bytes),
          .element = std::string(element_name(type)),
          .initialiser = options.initialiser.to_string(),
          .seed = options.seed,
          .home = std::string(home_map_name(options.home)),
          .update_rule = rule_text(options),
          .location_caches = location_caches,
          .consistency = consistency_of(options).to_string(),
          .not_finite = std::string(not_finite_name(options.not_finite)),
          .max_push_norm = limit_text(options.max_push_norm)};
}

void TableSpec::check(const TableOptions& options, ElementType type) {
  check_name(options.name);
  options.sparse ? check_sparse(options) : check_dense(options);
  if (options.home == HomeMapKind::custom && !options.home_function)
    refuse("table '{}' has a custom home map without a function", options.name);
  check_values(options, type);
  check_consistency(options);
}

std::optional<std::string> TableSpec::difference(const TableSpec& other) const {
  std::optional<std::string> first;
  for_each_field([&](std::string_view field_name, auto field) {
    if (!first && this->*field != other.*field)
      first = fmt::format("{} is '{}' against '{}'", field_name, this->*field, other.*field);
  });
  return first;
}

}  // namespace lapse
