#include "test/support/replicas_at_rest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "test/support/history_violation.hpp"

namespace lapse::test {

namespace {

struct CopyAtRest {
  Domain domain;
  std::span<const std::byte> value;
};

}  // namespace

std::size_t check_replicas_at_rest(std::span<const TableShard* const> shards, std::span<const Key> keys,
                                   const std::function<bool(Domain, Key)>& wants) {
  const DomainMap& domains = shards[0]->definition().domains;
  std::size_t replicas = 0;
  for (const Key key : keys) {
    const auto fail = [&](Domain domain, std::string_view what) {
      throw HistoryViolation(fmt::format("at rest, domain {} {} (key {} of table '{}')", domain.value(), what,
                                         key.value(), shards[0]->name()));
    };
    std::optional<CopyAtRest> main;
    std::vector<CopyAtRest> copies;
    for (std::int32_t number = 0; number < domains.domains(); ++number) {
      const Domain domain(number);
      const TableShard& shard = *shards[domains.serving_rank(key, domain).index()];
      const SlotWord word = shard.store().word(key);
      if (word.latched() || word.leased()) fail(domain, "has latched or leased a key");
      if (!has_usable_value(word.role())) {
        if (word.role() != Role::absent) fail(domain, fmt::format("is {}", role_name(word.role())));
        continue;
      }
      const CopyAtRest copy{domain, {shard.store().address(word.slot()), shard.value_bytes(key)}};
      if (direct_access(word.role(), false) == DirectAccess::copy) {
        if (word.role() != Role::replica) fail(domain, fmt::format("is {}", role_name(word.role())));
        if (!wants(domain, key)) fail(domain, "holds a replica that it does not want");
        copies.push_back(copy);
        continue;
      }
      if (main) fail(domain, "is a second owner");
      main = copy;
    }
    for (const CopyAtRest& copy : copies) {
      if (!main) fail(copy.domain, "holds a replica without an owner");
      if (!std::ranges::equal(copy.value, main->value))
        fail(copy.domain, "holds another value than the owner");
    }
    replicas += copies.size();
  }
  return replicas;
}

}  // namespace lapse::test
