// Syncs of a rank whose copies wait for something at the owner.
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;

namespace {

constexpr Key kKey(3);

// Rank 0 owns the key, the others have replicas of it.
class OwnerAndHolders {
 public:
  explicit OwnerAndHolders(std::int32_t count = 2) : ranks(count, 8, 16) {
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(count); ++rank) {
      ranks.want(rank, std::vector<Key>{kKey});
      ranks.round(rank);
      ranks.deliver_all();
    }
    REQUIRE(ranks.role(0, kKey) == Role::owner);
    REQUIRE(ranks.role(1, kKey) == Role::replica);
  }

  // The worker of rank 1 waits for a sync; true when all that is sent until then ends it.
  bool sync() {
    SyncRequest& request = this->request();
    request.worker = ranks.protocol(1).registry().workers()[0].get();
    request.finished.store(false);
    progress_role.assert_held();  // One thread does everything.
    ranks.protocol(1).synchronization().handle_submission(request);
    ranks.protocol(1).end_turn();
    ranks.deliver_all();
    return request.finished;
  }
  SyncRequest& request() { return ranks.protocol(1).registry().workers()[0]->sync_request(); }

  // As a worker of rank 0 ends its lease: in memory, or by its engine where something waits for the end.
  void end_lease() {
    TableShard& table = ranks.table(0);
    if (table.store().release_lease(kKey)) return;
    WorkerEndpoint& worker = *ranks.protocol(0).registry().workers()[0];
    LeaseRequest& request = worker.lease_request();
    request.worker = &worker;
    request.items = {{&table, kKey}};
    request.releasing = true;
    progress_role.assert_held();  // One thread does everything.
    ranks.protocol(0).leases().handle_submission(request);
    ranks.protocol(0).end_turn();
    ranks.deliver_all();
  }

  ReplicatingRanks ranks;
};

}  // namespace

TEST_CASE("sync: the end of a lease answers a sync that waits for it, without a timer") {
  OwnerAndHolders both;
  REQUIRE(both.ranks.push(0, kKey, 5));
  REQUIRE(both.ranks.table(0).store().grant_lease(kKey));
  CHECK_FALSE(both.sync());
  both.end_lease();
  CHECK(both.request().finished);
  CHECK(both.ranks.value(1, kKey) == 5);
  CHECK(both.ranks.table(0).arrivals().in_use() == 0);
}

TEST_CASE("sync: a lease that began after the refreshes were sent is not waited for") {
  OwnerAndHolders both;
  REQUIRE(both.ranks.push(0, kKey, 5));
  both.ranks.round(0);
  both.ranks.deliver_all();
  REQUIRE(both.ranks.table(0).store().grant_lease(kKey));
  CHECK(both.sync());
  CHECK(both.ranks.table(0).store().release_lease(kKey));
}

TEST_CASE("sync: a change that another rank forwards is acknowledged without a timer") {
  OwnerAndHolders three(3);
  three.ranks.localize(2, kKey);
  three.ranks.deliver_all();
  REQUIRE(three.ranks.role(2, kKey) == Role::owner);
  // Rank 1 has not heard of the new owner: its DELTA comes there by rank 0, after the question of the sync.
  REQUIRE(three.ranks.push(1, kKey, 5));
  CHECK(three.sync());
  CHECK(three.ranks.value(2, kKey) == 5);
}

TEST_CASE("sync: changes that could not be sent when it began are sent without a timer") {
  OwnerAndHolders both;
  REQUIRE(both.ranks.push(1, kKey, 5));
  both.ranks.round(1);
  REQUIRE(both.ranks.push(1, kKey, 6));
  CHECK(both.sync());
  CHECK(both.ranks.value(0, kKey) == 11);
  CHECK(both.ranks.value(1, kKey) == 11);
}
