// Syncs of a rank whose replicas wait for an event at the owner.
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;

namespace {

constexpr Key kSyncKey(3);

// Rank 0 owns the key, the other ranks have replicas of it.
class OwnerAndHolders {
 public:
  explicit OwnerAndHolders(std::int32_t count = 2) : ranks(count, 8, 16) {
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(count); ++rank) {
      ranks.want(rank, std::vector<Key>{kSyncKey});
      ranks.round(rank);
      ranks.deliver_all();
    }
    REQUIRE(ranks.role(0, kSyncKey) == Role::owner);
    REQUIRE(ranks.role(1, kSyncKey) == Role::replica);
  }

  // The worker of rank 1 begins to wait for a sync. Returns whether all messages sent until then end it.
  bool sync() {
    ranks.sync(1);
    ranks.deliver_all();
    return ranks.synced(1);
  }

  ReplicatingRanks ranks;
};

}  // namespace

TEST_CASE("sync: the end of a lease answers a sync that waits for it, without a timer") {
  OwnerAndHolders both;
  REQUIRE(both.ranks.push(0, kSyncKey, 5));
  REQUIRE(both.ranks.lease(0, kSyncKey));
  CHECK_FALSE(both.sync());
  // After a release in memory, no turn of the engine would follow.
  if (!both.ranks.table(0).store().release_lease(kSyncKey)) both.ranks.release(0, kSyncKey);
  both.ranks.deliver_all();
  CHECK(both.ranks.synced(1));
  CHECK(both.ranks.value(1, kSyncKey) == 5);
  CHECK(both.ranks.table(0).arrivals().in_use() == 0);
}

TEST_CASE("sync: a lease that began after the refreshes were sent is not waited for") {
  OwnerAndHolders both;
  REQUIRE(both.ranks.push(0, kSyncKey, 5));
  both.ranks.round(0);
  both.ranks.deliver_all();
  REQUIRE(both.ranks.lease(0, kSyncKey));
  CHECK(both.sync());
  CHECK(both.ranks.table(0).store().release_lease(kSyncKey));
}

TEST_CASE("sync: a change that another rank forwards is acknowledged without a timer") {
  OwnerAndHolders three(3);
  three.ranks.localize(2, kSyncKey);
  three.ranks.deliver_all();
  REQUIRE(three.ranks.role(2, kSyncKey) == Role::owner);
  // Rank 1 has not learned of the new owner: rank 0 forwards its DELTA, which arrives after the question of
  // the sync.
  REQUIRE(three.ranks.push(1, kSyncKey, 5));
  CHECK(three.sync());
  CHECK(three.ranks.value(2, kSyncKey) == 5);
}

TEST_CASE("sync: changes that could not be sent when it began are sent without a timer") {
  OwnerAndHolders both;
  REQUIRE(both.ranks.push(1, kSyncKey, 5));
  both.ranks.round(1);
  REQUIRE(both.ranks.push(1, kSyncKey, 6));
  CHECK(both.sync());
  CHECK(both.ranks.value(0, kSyncKey) == 11);
  CHECK(both.ranks.value(1, kSyncKey) == 11);
}

TEST_CASE("sync: a change that waits for a lease when the sync begins is acknowledged without a timer") {
  OwnerAndHolders both;
  REQUIRE(both.ranks.lease(0, kSyncKey));
  REQUIRE(both.ranks.push(1, kSyncKey, 5));
  both.ranks.round(1);
  both.ranks.deliver_all();
  CHECK_FALSE(both.sync());
  both.ranks.release(0, kSyncKey);
  both.ranks.deliver_all();
  CHECK(both.ranks.synced(1));
  CHECK(both.ranks.value(0, kSyncKey) == 5);
}
