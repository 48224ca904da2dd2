// The records that are sent when domains want keys, change replicas, and stop wanting keys.
#include <ctime>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;
using Records = ReplicatingRanks::Records;

namespace {

constexpr Key kRecordsKey(0);
constexpr std::uint64_t kFew = 8;

// The ranks begin or stop wanting the key one after the other. Each runs a round, and all its messages are
// delivered.
class Wants {
 public:
  void begin(std::size_t rank) { change(rank, true); }
  void end(std::size_t rank) { change(rank, false); }
  ReplicatingRanks ranks{4, kFew, 2 * kFew};

 private:
  void change(std::size_t rank, bool on) {
    const std::vector<Key> keys{kRecordsKey};
    if (on) {
      ranks.want(rank, keys);
    } else {
      ranks.unwant(rank, keys);
    }
    ranks.round(rank);
    ranks.deliver_all();
  }
};

std::vector<Key> keys_below(std::uint64_t count) {
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < count; ++number) keys.emplace_back(number);
  return keys;
}

// At most one credit for each half of the limit.
Records take_records_but_credits(ReplicatingRanks& ranks) {
  Records records = ranks.take_records();
  const std::uint64_t values = records[FrameKind::delta] + records[FrameKind::refresh];
  CHECK(records[FrameKind::credit] <= 1 + values * 32 / (Credits::kDefaultLimit / 2));
  for (const FrameKind kind : {FrameKind::credit, FrameKind::delta, FrameKind::refresh})
    if (kind == FrameKind::credit || records[kind] == 0) records.erase(kind);
  return records;
}

}  // namespace

TEST_CASE("records of replication: a key that one domain wants after the other moves, and is not copied") {
  Wants wants;
  wants.begin(1);
  CHECK(wants.ranks.role(1, kRecordsKey) == Role::owner);
  wants.end(1);
  wants.begin(2);
  CHECK(wants.ranks.role(2, kRecordsKey) == Role::owner);
  wants.end(2);
  // The home forwards an ON. If the home owns the key, it instructs no other rank.
  CHECK(wants.ranks.take_records() == Records{{FrameKind::on, 3},
                                              {FrameKind::offer, 2},
                                              {FrameKind::localize, 2},
                                              {FrameKind::instruct, 1},
                                              {FrameKind::transfer, 2}});
}

TEST_CASE(
    "records of replication: a key that two domains want for a while is copied, then moves to the last") {
  Wants wants;
  wants.begin(1);
  wants.begin(2);
  CHECK(wants.ranks.role(1, kRecordsKey) == Role::owner);
  CHECK(wants.ranks.role(2, kRecordsKey) == Role::replica);
  wants.end(1);
  CHECK(wants.ranks.role(1, kRecordsKey) == Role::absent);
  CHECK(wants.ranks.role(2, kRecordsKey) == Role::owner);
  CHECK(wants.ranks.take_records() == Records{{FrameKind::on, 3},
                                              {FrameKind::offer, 2},
                                              {FrameKind::snapshot, 1},
                                              {FrameKind::localize, 2},
                                              {FrameKind::instruct, 1},
                                              {FrameKind::transfer, 2}});
  wants.end(2);
  CHECK(wants.ranks.take_records().empty());
}

TEST_CASE("records of replication: a key that all domains want is served by its owner until one is left") {
  Wants wants;
  for (std::size_t rank = 0; rank < 4; ++rank) wants.begin(rank);
  for (std::size_t rank = 1; rank < 4; ++rank) CHECK(wants.ranks.role(rank, kRecordsKey) == Role::replica);
  CHECK(wants.ranks.take_records() == Records{{FrameKind::on, 3}, {FrameKind::snapshot, 3}});
  wants.end(0);
  CHECK(wants.ranks.take_records().empty());
  wants.end(1);
  CHECK(wants.ranks.role(0, kRecordsKey) == Role::owner);
  wants.end(2);
  CHECK(wants.ranks.role(3, kRecordsKey) == Role::owner);
  CHECK(wants.ranks.take_records() == Records{{FrameKind::off, 2},
                                              {FrameKind::acknowledge, 2},
                                              {FrameKind::offer, 1},
                                              {FrameKind::localize, 1},
                                              {FrameKind::transfer, 1}});
}

TEST_CASE("records of replication: a change goes to all members, and acknowledges where it came from") {
  Wants wants;
  for (std::size_t rank = 0; rank < 4; ++rank) wants.begin(rank);
  wants.ranks.take_records();
  for (const std::size_t changed : {0, 2}) {
    CHECK(wants.ranks.push(changed, kRecordsKey, 5));
    for (const std::size_t rank : {2, 0, 1, 3, 0}) {
      wants.ranks.round(rank);
      wants.ranks.deliver_all();
    }
    Records expected{{FrameKind::refresh, 3}};
    if (changed != 0) expected[FrameKind::delta] = 1;
    CHECK(wants.ranks.take_records() == expected);
  }
  for (std::size_t rank = 0; rank < 4; ++rank) CHECK(wants.ranks.value(rank, kRecordsKey) == 10);
}

TEST_CASE(
    "records of replication: clean copies send nothing, and changed ones one DELTA and one REFRESH each") {
  constexpr std::uint64_t kKeys = 100'000;
  ReplicatingRanks ranks(2, kKeys, kKeys);
  const std::vector<Key> keys = keys_below(kKeys);
  ranks.want(0, keys);
  ranks.round(0);
  ranks.want(1, keys);
  ranks.round(1);
  ranks.deliver_all();
  CHECK(ranks.take_records() == Records{{FrameKind::on, kKeys}, {FrameKind::snapshot, kKeys}});
  CHECK(ranks.copies(1).replicas().in_use() == kKeys);

  const std::clock_t before = std::clock();
  for (int i = 0; i < 1000; ++i) {
    ranks.round(0);
    ranks.round(1);
  }
  ranks.deliver_all();
  CHECK(ranks.take_records().empty());
  // Visiting a hundred million replicas would take longer.
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.5);

  for (const std::uint64_t changed : {std::uint64_t{1}, std::uint64_t{777}, kKeys}) {
    for (std::uint64_t i = 0; i < changed; ++i) CHECK(ranks.push(1, Key(i * 7 % kKeys), 1));
    ranks.round(1);
    ranks.deliver_all();
    CHECK(take_records_but_credits(ranks) == Records{{FrameKind::delta, changed}});
    // The owner's round, which acknowledges.
    ranks.round(0);
    ranks.deliver_all();
    CHECK(take_records_but_credits(ranks) == Records{{FrameKind::refresh, changed}});
    ranks.round(1);
    ranks.round(0);
    ranks.deliver_all();
    CHECK(ranks.take_records().empty());
  }
  CHECK(ranks.value(0, Key(0)) == 3);
  CHECK(ranks.value(1, Key(0)) == 3);
}

TEST_CASE("records of replication: after the last want all is as before, however often") {
  // Replicas get only the memory that the keys need: memory that is not released is missing the next time.
  constexpr std::uint64_t kKeys = 2000;
  ReplicatingRanks ranks(3, kKeys, kKeys);
  const std::vector<Key> keys = keys_below(kKeys);
  std::int64_t pushed = 0;
  const std::size_t bytes = ranks.copies(1).memory_bytes();
  std::size_t bytes_after_first = 0;
  for (int cycle = 0; cycle < 10; ++cycle) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      ranks.want(rank, keys);
      ranks.round(rank);
      ranks.deliver_all();
    }
    for (const Key key : keys) {
      for (std::size_t rank = 0; rank < 3; ++rank) CHECK(ranks.push(rank, key, 1));
    }
    pushed += 3;
    // Owners end their want last: the keys stay there.
    for (const std::size_t rank : {1, 2, 0}) {
      ranks.unwant(rank, keys);
      ranks.round(rank);
      ranks.deliver_all();
    }
    for (std::size_t rank = 0; rank < 3; ++rank) ranks.round(rank);
    ranks.deliver_all();
    for (const Key key : keys) {
      if (ranks.value(0, key) != pushed || ranks.role(1, key) != Role::absent ||
          ranks.role(2, key) != Role::absent)
        FAIL("key " << key.value() << " is not as before");
    }
    for (std::size_t rank = 0; rank < 3; ++rank) {
      CHECK(ranks.copies(rank).replicas().in_use() == 0);
      CHECK(ranks.copies(rank).mains().in_use() == 0);
      CHECK_FALSE(ranks.copies(rank).keys().any_marked());
      CHECK(ranks.table(rank).wanted().size() == 0);
      CHECK(ranks.table(rank).arrivals().in_use() == 0);
      CHECK(ranks.table(rank).counters().declined_copies == 0);
      CHECK(ranks.protocol(rank).idle(IdleLevel::synced));
    }
    if (cycle == 0) bytes_after_first = ranks.copies(1).memory_bytes();
  }
  CHECK(ranks.copies(1).memory_bytes() == bytes_after_first);
  CHECK(bytes < bytes_after_first);
}

TEST_CASE("A message about copies from the rank's own domain is refused, one key or a run") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks{2, kFew, 2 * kFew};
  // Once another rank has had a replica, slots can be marked: runs of ON are handled with that.
  ranks.want(1, keys_below(1));
  ranks.round(1);
  ranks.deliver_all();
  for (const FrameKind kind : {FrameKind::on, FrameKind::delta, FrameKind::off}) {
    for (const std::uint32_t count : {1U, 2U}) {
      INFO("kind " << static_cast<int>(kind) << " of " << count);
      FrameHeader header;
      header.kind = static_cast<std::uint16_t>(kind);
      header.count = count;
      header.domain = 0;
      const std::size_t words = kind == FrameKind::on ? 1 : 3;
      header.record_bytes = static_cast<std::uint32_t>(words * sizeof(std::uint64_t));
      std::vector<std::uint64_t> records(count * words);
      for (std::uint32_t i = 0; i < count; ++i) records[i * words] = 3 + i;
      CHECK_THROWS_AS(ranks.protocol(0).replication().handle_frame(
                          Rank(1), header, reinterpret_cast<const std::byte*>(records.data())),
                      ProtocolError);
    }
  }
  const Store& store = ranks.table(0).store();
  for (std::uint64_t key = 1; key < kFew; ++key) {
    REQUIRE(ranks.role(0, Key(key)) == Role::owner);
    CHECK_FALSE(TableCopies::has_members(store.address(store.word(Key(key)).slot())));
  }
}
