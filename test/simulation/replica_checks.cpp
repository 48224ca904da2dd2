// Tests the check of quiesced replicas.
#include <algorithm>
#include <memory>
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/history_violation.hpp"
#include "test/support/replicas_at_rest.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr Key kCopied{0};

// A table with one key on two ranks, each a domain of its own. Rank 0 is the home.
struct TwoShards {
  TwoShards() {
    for (const std::int32_t rank : {0, 1}) {
      shards.push_back(build_table_shard({.max_units = 8}, domains, Rank(rank),
                                         HomeMap::range(2, 2, Domain(rank)), false, 2,
                                         ValueSizes({.type = ElementType::float64, .length = 2}), regions));
    }
  }
  // Makes rank 1 a replica with this value.
  void copy(std::vector<double> value) {
    Store& store = shards[1]->store();
    const Slot slot = store.allocate_slot(kCopied);
    std::ranges::copy(std::as_bytes(std::span(value)), store.address(slot));
    set_word(1, store.word(kCopied).replica(slot));
  }
  void set_word(std::size_t rank, SlotWord word) {
    shards[rank]->store().find(kCopied)->store(word.bits(), std::memory_order_release);
  }
  std::size_t check(bool wanted = true) const {
    const std::vector<const TableShard*> all{shards[0].get(), shards[1].get()};
    return check_replicas_at_rest(all, std::vector<Key>{kCopied},
                                  [&](Domain domain, Key) { return wanted && domain == Domain(1); });
  }

  DomainMap domains = DomainMap::of_hosts(std::vector<std::int32_t>{0, 0}, 1);
  PrivateRegionAllocator regions;
  std::vector<std::unique_ptr<TableShard>> shards;
};

}  // namespace

TEST_CASE("replicas at rest have the owner's value") {
  progress_role.assert_held();
  TwoShards shards;
  CHECK(shards.check() == 0);
  shards.copy({0, 0});
  CHECK(shards.check() == 1);
  CHECK_THROWS_AS(shards.check(false), HistoryViolation);
  shards.copy({0, 1});
  CHECK_THROWS_AS(shards.check(), HistoryViolation);
}

TEST_CASE("at rest there is one owner, and no key on its way") {
  progress_role.assert_held();
  for (const Role role : {Role::arriving, Role::awaiting, Role::closing, Role::upgrading, Role::owner}) {
    TwoShards shards;
    shards.copy({0, 0});
    const SlotWord word = shards.shards[1]->store().word(kCopied);
    shards.set_word(1, word.with_role(role, word.low()));
    CHECK_THROWS_AS(shards.check(), HistoryViolation);
  }
  TwoShards shards;
  shards.copy({0, 0});
  const SlotWord main = shards.shards[0]->store().word(kCopied);
  shards.set_word(0, main.with_lease(LeaseState::held));
  CHECK_THROWS_AS(shards.check(), HistoryViolation);
  shards.set_word(0, main.absent());
  CHECK_THROWS_AS(shards.check(), HistoryViolation);
}
