// What a sync counts: changes before and after a cut, and REFRESHes before and after an answer.
#include "lapse/protocol/table/refresh_parts.hpp"
#include "lapse/protocol/table/replica_table.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

using Unanswered = Replica::Unanswered;

class SyncRecords {
 public:
  std::uint32_t open() LAPSE_REQUIRES(progress_role) { return table_.open(Replica{}); }
  ReplicaTable* operator->() { return &table_; }
  Replica& at(std::uint32_t number) LAPSE_REQUIRES(progress_role) { return table_.at(number); }

 private:
  ReplicaTable table_;
};

}  // namespace

TEST_CASE("A cut waits for nothing where nothing is unmerged") {
  progress_role.assert_held();
  SyncRecords records;
  const std::uint32_t number = records.open();
  records->expect(records.at(number), Unanswered::on);
  records->cut();
  CHECK_FALSE(records->waits_for_cut());
}

TEST_CASE("A cut waits for DELTA, OFF and LOCALIZE until they are answered") {
  progress_role.assert_held();
  for (const Unanswered message : {Unanswered::delta, Unanswered::off, Unanswered::localize}) {
    SyncRecords records;
    const std::uint32_t number = records.open();
    records->expect(records.at(number), message);
    CHECK_FALSE(records->waits_for_cut());
    records->cut();
    CHECK(records->waits_for_cut());
    records->close(number);
    CHECK_FALSE(records->waits_for_cut());
  }
}

TEST_CASE("A cut waits for what was marked before it, and not for what is marked behind it") {
  progress_role.assert_held();
  SyncRecords records;
  const std::uint32_t number = records.open();
  Replica& replica = records.at(number);
  records->expect(replica, Unanswered::delta);
  records->mark(replica);
  records->cut();
  records->expect(replica, Unanswered::nothing);
  CHECK(records->waits_for_cut());
  // The next DELTA carries it; changes continue meanwhile.
  records->expect(replica, Unanswered::delta);
  CHECK_FALSE(replica.marked);
  records->mark(replica);
  CHECK(records->waits_for_cut());
  records->expect(replica, Unanswered::nothing);
  CHECK_FALSE(records->waits_for_cut());
  records->expect(replica, Unanswered::delta);
  CHECK_FALSE(records->waits_for_cut());
  records->cut();
  CHECK(records->waits_for_cut());
}

TEST_CASE("A change that turns out to be empty is not waited for, and a record that closes is not either") {
  progress_role.assert_held();
  SyncRecords records;
  const std::uint32_t one = records.open();
  const std::uint32_t other = records.open();
  records->mark(records.at(one));
  records->mark(records.at(other));
  records->expect(records.at(other), Unanswered::localize);
  records->cut();
  records->unmark(records.at(one));
  CHECK(records->waits_for_cut());
  records->close(other);
  CHECK_FALSE(records->waits_for_cut());
  CHECK(records->unanswered() == 0);
}

TEST_CASE("REFRESHes that were sent behind an answer do not stand for earlier ones that they overtake") {
  const Rank self(0);
  const Rank peer(1);
  RefreshParts sender(2);
  RefreshParts receiver(2);
  const auto send = [&] {
    sender.add_sent(self);
    return sender.open_part(self);
  };
  const std::uint64_t first = send();
  const std::uint64_t second = send();
  const RefreshParts::Part part = sender.end_part(self);
  CHECK(part.refreshes == 2);
  const std::uint64_t third = send();
  receiver.add_received(peer, third, 1);
  receiver.ended(peer, part);
  receiver.add_received(peer, second, 1);
  CHECK(receiver.complete(peer) == part.number);
  receiver.add_received(peer, first, 1);
  CHECK(receiver.complete(peer) == part.number + 1);
  // The third counts for the next part.
  const RefreshParts::Part next = sender.end_part(self);
  CHECK(next.refreshes == 1);
  receiver.ended(peer, next);
  CHECK(receiver.complete(peer) == next.number + 1);
}

TEST_CASE("Parts of REFRESHes end in any order, and none is complete before those that it follows") {
  const Rank peer(1);
  RefreshParts receiver(2);
  receiver.ended(peer, {2, 0});
  receiver.ended(peer, {1, 1});
  receiver.add_received(peer, 1, 1);
  CHECK(receiver.complete(peer) == 0);
  receiver.ended(peer, {0, 0});
  CHECK(receiver.complete(peer) == 3);
}

TEST_CASE("Parts of REFRESHes that cannot be are refused") {
  const Rank peer(1);
  RefreshParts receiver(2);
  receiver.ended(peer, {0, 0});
  CHECK_THROWS_AS(receiver.ended(peer, {0, 0}), ProtocolError);
  CHECK_THROWS_AS(receiver.add_received(peer, 0, 1), ProtocolError);
  CHECK_THROWS_AS(receiver.ended(peer, {std::uint64_t{1} << 40, 0}), ProtocolError);
  receiver.ended(peer, {2, 0});
  CHECK_THROWS_AS(receiver.ended(peer, {2, 0}), ProtocolError);
  receiver.add_received(peer, 1, 2);
  CHECK_THROWS_AS(receiver.ended(peer, {1, 1}), ProtocolError);
}
