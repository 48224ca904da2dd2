// How stale replicas were when workers read them, and how many there were.
#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;

namespace {

constexpr Key kStaleKey(3);

// Rank 1 holds a replica of a key that rank 0 owns and wants, too.
void give_copy(ReplicatingRanks& ranks) {
  for (const std::size_t rank : {0, 1}) ranks.want(rank, std::span(&kStaleKey, 1));
  ranks.round(0);
  ranks.round(1);
  ranks.deliver_all();
  REQUIRE(ranks.role(0, kStaleKey) == Role::owner);
  REQUIRE(ranks.role(1, kStaleKey) == Role::replica);
}

}  // namespace

TEST_CASE("A read of a copy is as stale as the next renewal finds, and as old as the last one") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, 8, 8);
  give_copy(ranks);
  ReadSamples& reads = ranks.protocol(1).registry().workers()[0]->read_samples();
  const auto read = [&](std::chrono::milliseconds later) {
    reads.note({TableId(0), kStaleKey, ranks.copies(1).replica(kStaleKey).refreshed + later});
  };
  const TableCounters& counters = ranks.table(1).counters();
  // The main copy has not changed since: the replica is not stale.
  read(std::chrono::milliseconds(5));
  ranks.round(0);
  ranks.round(1);
  ranks.deliver_all();
  CHECK(counters.read_samples == 1);
  CHECK(counters.stale_nanoseconds == 5'000'000);
  CHECK(counters.stale_versions == 0);
  // Three pushes to the main copy, and two reads before the replica shows them; with the first, three reads.
  for (int i = 0; i < 3; ++i) REQUIRE(ranks.push(0, kStaleKey, 1));
  read(std::chrono::milliseconds(7));
  read(std::chrono::milliseconds(9));
  ranks.round(0);
  ranks.deliver_all();
  CHECK(ranks.value(1, kStaleKey) == 3);
  CHECK(counters.read_samples == 3);
  CHECK(counters.stale_nanoseconds == 21'000'000);
  CHECK(counters.stale_max_nanoseconds == 9'000'000);
  CHECK(counters.stale_versions == 9);
  CHECK(counters.stale_versions_max == 3);
  // A replica that is read afterwards has not missed a change yet.
  read(std::chrono::milliseconds(1));
  ranks.round(1);
  CHECK(counters.read_samples == 4);
  CHECK(counters.stale_versions == 9);
}

TEST_CASE("Reads that are noted of a copy that is gone, or beyond the room for them, are left out") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, 8, 8);
  ReadSamples& reads = ranks.protocol(1).registry().workers()[0]->read_samples();
  reads.note({TableId(0), kStaleKey, {}});
  ranks.round(1);
  CHECK(ranks.table(1).counters().read_samples == 0);
  give_copy(ranks);
  for (std::uint32_t i = 0; i < 2 * ReadSamples::kRoom; ++i)
    reads.note({TableId(0), kStaleKey, ranks.copies(1).replica(kStaleKey).refreshed});
  ranks.round(1);
  CHECK(ranks.table(1).counters().read_samples == ReadSamples::kRoom);
}

TEST_CASE("Rounds note how many copies there are") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(2, 8, 8);
  give_copy(ranks);
  Replication& replication = ranks.protocol(1).replication();
  replication.round(Replication::Clock::now() + std::chrono::seconds(1));
  const auto& samples = replication.copies_over_time().samples();
  REQUIRE(samples.size() >= 2);
  CHECK(samples.back().copies == std::vector<std::uint64_t>{1});
  CHECK(samples.back().seconds >= 1);
}
