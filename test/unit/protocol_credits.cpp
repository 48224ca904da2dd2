// Changes wait for a rank that does not handle them.
#include "lapse/protocol/host/credits.hpp"

#include <cstring>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/number_set.hpp"
#include "lapse/protocol/key/refresh_backlog.hpp"
#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;

namespace {

constexpr std::uint64_t kRefreshBytes = sizeof(VersionRecord) + sizeof(std::int64_t);

std::vector<Key> first_keys(std::uint64_t count) {
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < count; ++number) keys.emplace_back(number);
  return keys;
}

// All ranks want all keys. Rank 0 owns them.
class ReplicatedKeys : public ReplicatingRanks {
 public:
  ReplicatedKeys(std::int32_t ranks, std::uint64_t keys, std::size_t credit_bytes)
      : ReplicatingRanks(ranks, keys, 2 * keys, {.credit_bytes = credit_bytes}) {
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
      want(rank, first_keys(keys));
      round(rank);
      deliver_all();
    }
    take_records();
  }
};

RefreshBacklog::Parked parked(TableId table, char what) {
  FrameHeader header;
  header.table = table.value();
  header.operation = static_cast<std::uint64_t>(what);
  return {header, {std::byte(what)}};
}

}  // namespace

TEST_CASE("credits: a sender waits when its bytes in flight reach the limit, and goes on after a report") {
  const Rank a(0);
  const Rank b(1);
  Credits sender(2);
  Credits receiver(2);
  sender.set_limit(100);
  receiver.set_limit(100);
  sender.add_sent(b, 99);
  CHECK(sender.has(b));
  sender.add_sent(b, 500);  // one record, of any length
  CHECK_FALSE(sender.has(b));
  CHECK(sender.has(a));
  std::vector<std::pair<Rank, std::uint64_t>> reports;
  const auto report = [&](Rank to, std::uint64_t bytes) { reports.emplace_back(to, bytes); };
  receiver.add_received(a, 49);
  CHECK_FALSE(receiver.has_due());
  receiver.take_due(report);
  CHECK(reports.empty());
  receiver.add_received(a, 1);
  CHECK(receiver.has_due());
  receiver.add_received(a, 549);
  receiver.take_due(report);
  receiver.take_due(report);
  CHECK(reports == std::vector<std::pair<Rank, std::uint64_t>>{{a, 599}});
  sender.acknowledge(b, 599);
  CHECK(sender.has(b));
}

TEST_CASE("credits: a report of bytes that were not sent, or fewer than before, is refused") {
  Credits sender(2);
  sender.add_sent(Rank(1), 10);
  CHECK_THROWS_AS(sender.acknowledge(Rank(1), 11), ProtocolError);
  sender.acknowledge(Rank(1), 10);
  CHECK_THROWS_AS(sender.acknowledge(Rank(1), 9), ProtocolError);
}

TEST_CASE("credits: a set of numbers") {
  NumberSet set;
  CHECK_FALSE(set.next(0));
  for (const std::uint32_t number : {0U, 63U, 64U, 1000U, 64U}) set.add(number);
  CHECK(set.size() == 4);
  CHECK(set.next(0) == 0U);
  CHECK(set.next(1) == 63U);
  CHECK(set.next(64) == 64U);
  CHECK(set.next(65) == 1000U);
  CHECK_FALSE(set.next(1001));
  CHECK_FALSE(set.next(100'000));
  set.remove(1000);
  set.remove(999);
  CHECK_FALSE(set.next(65));
  CHECK(set.size() == 3);
}

TEST_CASE("credits: a backlog takes each main copy once, in turns, over all tables") {
  RefreshBacklog backlog(2);
  const Rank to(1);
  const auto take = [&] {
    const auto main = backlog.take(to);
    return main ? std::pair(main->table.value(), main->number) : std::pair(9U, 9U);
  };
  backlog.add(to, TableId(1), 5);
  backlog.add(to, TableId(0), 3);
  backlog.add(to, TableId(0), 3);
  backlog.add(to, TableId(1), 7);
  CHECK_FALSE(backlog.empty());
  CHECK(backlog.empty(Rank(0)));
  CHECK(take() == std::pair(0U, 3U));
  // It waits again at once, after the other keys.
  backlog.add(to, TableId(0), 3);
  backlog.remove(TableId(1), 5);
  CHECK(take() == std::pair(1U, 7U));
  CHECK(take() == std::pair(0U, 3U));
  CHECK(take() == std::pair(9U, 9U));
  CHECK(backlog.empty());
}

TEST_CASE("credits: a later record of a key takes the place of an earlier one, and counts as that one") {
  RefreshBacklog backlog(2);
  const Rank to(1);
  CHECK(backlog.park(to, Key(4), parked(TableId(0), 'a')));
  CHECK(backlog.park(to, Key(4), parked(TableId(1), 'b')));
  CHECK_FALSE(backlog.park(to, Key(4), parked(TableId(0), 'c')));
  CHECK(backlog.has_parked(to));
  const RefreshBacklog::Parked first = backlog.take_parked(to);
  CHECK(first.record == std::vector{std::byte('c')});
  CHECK(first.header.operation == 'a');
  CHECK(backlog.take_parked(to).record == std::vector{std::byte('b')});
  CHECK(backlog.empty());
}

TEST_CASE("credits: a rank that does not run is sent bounded changes, and the newest values when it runs") {
  constexpr std::uint64_t kKeys = 20;
  constexpr std::size_t kCredit = 4 * kRefreshBytes;
  ReplicatedKeys ranks(3, kKeys, kCredit);
  for (std::int64_t i = 0; i < 1000; ++i) {
    for (const Key key : first_keys(kKeys)) CHECK(ranks.push(0, key, 1));
    ranks.round(0);
    ranks.deliver_all(2);
    // The other ranks do not wait for it.
    for (const Key key : first_keys(kKeys)) CHECK(ranks.value(1, key) == i + 1);
  }
  CHECK(ranks.protocol(0).replication().awaits_credit(Rank(2)));
  ranks.take_records();
  ranks.deliver_all();
  // The changes that were in flight, then each key once.
  CHECK(ranks.take_records()[FrameKind::refresh] == 4 + kKeys);
  for (const Key key : first_keys(kKeys)) CHECK(ranks.value(2, key) == 1000);
  CHECK_FALSE(ranks.protocol(0).replication().awaits_credit(Rank(2)));
}

TEST_CASE("credits: changes of copies wait for an owner that does not run, and are merged when it runs") {
  constexpr std::uint64_t kKeys = 20;
  constexpr std::size_t kCredit = 4 * (sizeof(DeltaRecord) + sizeof(std::int64_t));
  ReplicatedKeys ranks(2, kKeys, kCredit);
  for (std::int64_t i = 0; i < 100; ++i) {
    for (const Key key : first_keys(kKeys)) CHECK(ranks.push(1, key, 1));
    ranks.round(1);
  }
  CHECK(ranks.copies(1).replicas().unanswered(Replica::Unanswered::delta) == 4);
  ranks.deliver_all();
  for (int i = 0; i < 2; ++i) {
    for (const std::size_t rank : {0, 1}) {
      ranks.round(rank);
      ranks.deliver_all();
    }
  }
  for (const Key key : first_keys(kKeys)) CHECK(ranks.value(0, key) == 100);
  CHECK(ranks.copies(1).replicas().unanswered() == 0);
  CHECK_FALSE(ranks.copies(1).any_marked());
}

TEST_CASE("credits: a key that goes from owner to owner keeps one value for a rank that does not run") {
  constexpr Key kKey(0);
  ReplicatedKeys ranks(3, 1, 1);
  std::int64_t pushed = 0;
  const auto move = [&](std::size_t to) {
    CHECK(ranks.push(to, kKey, 1));
    ++pushed;
    for (const std::size_t rank : {to, 1 - to}) {
      ranks.round(rank);
      ranks.deliver_all(2);
    }
    ranks.localize(to, kKey);
    ranks.deliver_all(2);
    CHECK(ranks.role(to, kKey) == Role::owner);
  };
  for (int i = 0; i < 100; ++i) move((i + 1) % 2);
  ranks.take_records();
  ranks.deliver_all();
  // From each owner at most one change that was in flight, and one that waited.
  CHECK(ranks.take_records()[FrameKind::refresh] <= 4);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    ranks.round(rank);
    ranks.deliver_all();
  }
  for (std::size_t rank = 0; rank < 3; ++rank) CHECK(ranks.value(rank, kKey) == pushed);
  for (std::size_t rank = 0; rank < 2; ++rank)
    CHECK_FALSE(ranks.protocol(rank).replication().awaits_credit(Rank(2)));
}
