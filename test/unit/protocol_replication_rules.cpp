// Rules of replication, with the orders of messages for which they matter: each goes one step beyond what
// random runs often reach. *Rule n* refers to docs/model/replication.md.
#include <span>

#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;

namespace {

constexpr Key kRulesKey(3);
constexpr std::uint64_t kRulesKeys = 8;
constexpr auto kFree = Transport::Lane::bulk;
constexpr auto kOrdered = Transport::Lane::ordered;
constexpr ReplicatingRanks::Settings kLanes{.separate_bulk_lane = true};

void want(ReplicatingRanks& ranks, std::size_t rank) {
  ranks.want(rank, std::span(&kRulesKey, 1));
  ranks.round(rank);
}

void unwant(ReplicatingRanks& ranks, std::size_t rank) {
  ranks.unwant(rank, std::span(&kRulesKey, 1));
  ranks.round(rank);
}

// Rank 0 owns the key and wants it; the other ranks get replicas.
void give_copies(ReplicatingRanks& ranks, std::size_t count) {
  for (std::size_t rank = 0; rank < count; ++rank) {
    want(ranks, rank);
    ranks.deliver_all();
    REQUIRE(ranks.role(rank, kRulesKey) == (rank == 0 ? Role::owner : Role::replica));
  }
}

// A REFRESH with the value 1 is in flight to the rank while the rank releases its replica. Then the main
// copy, which has no replicas any more, becomes 3.
void leave_refresh_behind(ReplicatingRanks& ranks, std::size_t to) {
  REQUIRE(ranks.push(0, kRulesKey, 1));
  ranks.round(0);
  ranks.hold_packets(0, to, kFree);
  unwant(ranks, to);
  ranks.deliver_all();
  REQUIRE(ranks.role(to, kRulesKey) == Role::absent);
  REQUIRE(ranks.copies(0).mains().in_use() == 0);
  REQUIRE(ranks.push(0, kRulesKey, 2));
}

// The rank wants the key again, and the old REFRESH arrives before the answer to its ON.
void want_after_old_refresh(ReplicatingRanks& ranks, std::size_t rank) {
  want(ranks, rank);
  REQUIRE(ranks.role(rank, kRulesKey) == Role::awaiting);
  ranks.release_packets();
  ranks.hold_packets(rank, 0, kOrdered);
  ranks.deliver_all();
  ranks.release_packets();
  ranks.deliver_all();
  REQUIRE(ranks.role(rank, kRulesKey) == Role::replica);
}

}  // namespace

TEST_CASE("rules of replication: the first copy raises the version, so an old REFRESH is not its value") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 2);
  leave_refresh_behind(ranks, 1);
  want_after_old_refresh(ranks, 1);
  CHECK(ranks.value(1, kRulesKey) == 3);
}

TEST_CASE("rules of replication: an owner that stays as the first copy raises the version") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(3, kRulesKeys, kRulesKeys, kLanes);
  want(ranks, 0);
  want(ranks, 2);
  ranks.deliver_all();
  leave_refresh_behind(ranks, 2);
  // Rank 1 wants the key, too; otherwise it would offer the key to its only holder.
  ranks.localize(1, kRulesKey);
  want(ranks, 1);
  ranks.deliver_all();
  REQUIRE(ranks.role(0, kRulesKey) == Role::replica);
  REQUIRE(ranks.role(1, kRulesKey) == Role::owner);
  want_after_old_refresh(ranks, 2);
  CHECK(ranks.value(2, kRulesKey) == 3);
}

TEST_CASE("rules of replication: a lease that something waits for raises the version at its end") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(3, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 2);
  REQUIRE(ranks.lease(0, kRulesKey));
  ranks.leased(0, kRulesKey) = 7;
  // ON itself does not change the value.
  want(ranks, 2);
  ranks.deliver_all();
  REQUIRE(ranks.role(2, kRulesKey) == Role::awaiting);
  ranks.release(0, kRulesKey);
  ranks.round(0);
  ranks.deliver_all();
  CHECK(ranks.value(1, kRulesKey) == 7);
  CHECK(ranks.value(2, kRulesKey) == 7);
}

TEST_CASE("rules of replication: a lease that nothing waits for raises the version at its end") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 2);
  REQUIRE(ranks.lease(0, kRulesKey));
  ranks.leased(0, kRulesKey) = 7;
  ranks.release(0, kRulesKey);
  ranks.round(0);
  ranks.deliver_all();
  CHECK(ranks.value(1, kRulesKey) == 7);
}

TEST_CASE("rules of replication: what an upgraded copy brings goes to all other copies") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(3, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 3);
  REQUIRE(ranks.push(1, kRulesKey, 5));
  ranks.localize(1, kRulesKey);
  // Also pushes while the key is in flight.
  REQUIRE(ranks.role(1, kRulesKey) == Role::upgrading);
  REQUIRE(ranks.push(1, kRulesKey, 6));
  ranks.deliver_all();
  REQUIRE(ranks.role(1, kRulesKey) == Role::owner);
  ranks.round(1);
  ranks.deliver_all();
  for (std::size_t rank = 0; rank < 3; ++rank) CHECK(ranks.value(rank, kRulesKey) == 11);
}

TEST_CASE("rules of replication: while a copy is awaited, an older REFRESH replaces no newer one") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  want(ranks, 0);
  want(ranks, 1);
  ranks.deliver_from(1, 0);
  ranks.hold_packets(0, 1, kFree);  // SNAPSHOT
  for (const std::int64_t update : {1, 2}) {
    REQUIRE(ranks.push(0, kRulesKey, update));
    ranks.round(0);
    if (update == 1) ranks.hold_packets(0, 1, kFree);
  }
  // The second REFRESH, the first REFRESH, SNAPSHOT.
  ranks.deliver_all();
  ranks.release_packets(0, 1, kFree, 1);
  ranks.deliver_all();
  REQUIRE(ranks.role(1, kRulesKey) == Role::awaiting);
  ranks.release_packets();
  ranks.deliver_all();
  REQUIRE(ranks.role(1, kRulesKey) == Role::replica);
  CHECK(ranks.value(1, kRulesKey) == 3);
}

TEST_CASE("rules of replication: an upgraded copy is no longer marked") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 2);
  REQUIRE(ranks.push(1, kRulesKey, 5));
  ranks.localize(1, kRulesKey);
  unwant(ranks, 0);
  ranks.deliver_all();
  REQUIRE(ranks.role(0, kRulesKey) == Role::absent);
  REQUIRE(ranks.role(1, kRulesKey) == Role::owner);
  CHECK(ranks.value(1, kRulesKey) == 5);
  // From now on its slot may be released.
  CHECK_FALSE(ranks.copies(1).keys().any_marked());
}

TEST_CASE("rules of replication: an offer is kept that comes while the member does not want the key") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 2);
  // OFF waits for the answer to the DELTA.
  REQUIRE(ranks.push(1, kRulesKey, 5));
  ranks.round(1);
  ranks.hold_packets(1, 0, kOrdered);
  unwant(ranks, 1);
  unwant(ranks, 0);
  ranks.deliver_all();
  want(ranks, 1);
  REQUIRE(ranks.role(1, kRulesKey) == Role::replica);
  ranks.release_packets();
  ranks.deliver_all();
  ranks.round(0);
  ranks.deliver_all();
  CHECK(ranks.role(1, kRulesKey) == Role::owner);
  CHECK(ranks.value(1, kRulesKey) == 5);
}

TEST_CASE("rules of replication: a key that comes to a domain without a want is offered to its only member") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  want(ranks, 0);
  ranks.localize(1, kRulesKey);
  ranks.deliver_all();
  CHECK(ranks.role(0, kRulesKey) == Role::owner);
  CHECK(ranks.role(1, kRulesKey) == Role::absent);
  CHECK(ranks.take_records() == ReplicatingRanks::Records{{FrameKind::localize, 1},
                                                          {FrameKind::transfer_with_members, 1},
                                                          {FrameKind::offer, 1},
                                                          {FrameKind::instruct, 1},
                                                          {FrameKind::transfer, 1}});
}

TEST_CASE("rules of replication: a sync waits for the copy of a key that is leased") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 2);
  REQUIRE(ranks.push(0, kRulesKey, 5));
  REQUIRE(ranks.lease(0, kRulesKey));
  ranks.sync(1);
  ranks.deliver_all();
  CHECK_FALSE(ranks.synced(1));
  ranks.release(0, kRulesKey);
  ranks.deliver_all();
  CHECK(ranks.synced(1));
  CHECK(ranks.value(1, kRulesKey) == 5);
}

TEST_CASE("rules of replication: a sync waits for a REFRESH that its answer overtakes") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, kRulesKeys, kRulesKeys, kLanes);
  give_copies(ranks, 2);
  REQUIRE(ranks.push(0, kRulesKey, 5));
  ranks.round(0);
  ranks.hold_packets(0, 1, kFree);
  ranks.sync(1);
  ranks.deliver_all();
  CHECK_FALSE(ranks.synced(1));
  ranks.release_packets();
  ranks.deliver_all();
  CHECK(ranks.synced(1));
  CHECK(ranks.value(1, kRulesKey) == 5);
}

TEST_CASE("rules of replication: a sync misses no change of a key that leaves its owner") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(3, kRulesKeys, kRulesKeys, kLanes);
  want(ranks, 0);
  want(ranks, 2);
  ranks.deliver_all();
  REQUIRE(ranks.push(0, kRulesKey, 5));
  ranks.localize(1, kRulesKey);
  ranks.deliver_from(1, 0);
  REQUIRE(ranks.role(0, kRulesKey) == Role::replica);
  // TRANSFER is in flight when both ranks answer: the next owner has nothing to send yet.
  ranks.hold_packets(0, 1, kFree);
  ranks.sync(2);
  ranks.deliver_all();
  CHECK(ranks.synced(2));
  CHECK(ranks.value(2, kRulesKey) == 5);
}

TEST_CASE("rules of replication: a write while the key leaves its owner reaches the other copies") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(3, kRulesKeys, kRulesKeys, kLanes);
  want(ranks, 0);
  want(ranks, 2);
  ranks.deliver_all();
  ranks.localize(1, kRulesKey);
  want(ranks, 1);
  bool pushed = false;
  ranks.interrupt(0, [&] { pushed = ranks.push(0, kRulesKey, 5); });
  ranks.deliver_all();
  REQUIRE(pushed);
  REQUIRE(ranks.role(1, kRulesKey) == Role::owner);
  for (std::size_t rank = 0; rank < 3; ++rank) CHECK(ranks.value(rank, kRulesKey) == 5);
}

TEST_CASE("rules of replication: a sync waits for a DELTA that comes to the owner behind its question") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(3, kRulesKeys, kRulesKeys, {.separate_bulk_lane = true, .location_caches = false});
  // Rank 1 owns the key, whose home is rank 0.
  want(ranks, 1);
  ranks.deliver_all();
  want(ranks, 2);
  ranks.deliver_all();
  REQUIRE(ranks.role(1, kRulesKey) == Role::owner);
  REQUIRE(ranks.role(2, kRulesKey) == Role::replica);
  REQUIRE(ranks.push(2, kRulesKey, 5));
  ranks.sync(2);
  // The home has forwarded the DELTA, and answered; so has the owner.
  ranks.deliver_from(2, 0);
  ranks.hold_packets(0, 1, kOrdered);
  ranks.deliver_all();
  CHECK_FALSE(ranks.synced(2));
  CHECK(ranks.value(1, kRulesKey) == 0);
  ranks.release_packets();
  ranks.deliver_all();
  CHECK(ranks.value(1, kRulesKey) == 5);
  ranks.round(1);
  ranks.deliver_all();
  CHECK(ranks.synced(2));
}
