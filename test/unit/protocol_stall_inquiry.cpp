#include "lapse/protocol/stalls/stall_inquiry.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/protocol/stalls/unsynced.hpp"
#include "lapse/protocol/worker/stall_question.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;

namespace {

constexpr Key kInquiryKey(5);  // at home on rank 1

// Three ranks, each a domain, with a table of nine keys, and workers 0 and 1, 2 and 3, 4 and 5. Packets wait
// until they are delivered.
class InquiringRanks {
 public:
  InquiringRanks() {
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      auto& protocol =
          protocols_.emplace_back(std::make_unique<RankProtocol>(network_.endpoint(Rank(rank)), router_));
      protocol->registry().add(test::build_table_shard(
          {.location_caches = false}, domains_, Rank(rank), HomeMap::range(9, 3, Domain(rank)), false, 9,
          ValueSizes(ValueLayout{ElementType::int64, 1, 0}), regions_));
      protocol->registry().prepare_workers(2, static_cast<std::size_t>(2 * rank));
    }
  }

  RankProtocol& rank(std::size_t number) { return *protocols_[number]; }
  WorkerEndpoint& worker(std::size_t rank, std::size_t index = 0) {
    return *this->rank(rank).registry().workers()[index];
  }

  // Worker 0 of the rank submits an operation on the keys.
  OperationState& submit(std::size_t number, OperationKind kind, std::vector<Key> keys = {kInquiryKey}) {
    OperationState& operation = worker(number).acquire();
    operation.kind = kind;
    operation.table = rank(number).registry().tables()[0].get();
    const bool localize = kind == OperationKind::localize;
    if (!localize) {
      worker(number).unanswered().begin(operation, TableId(0));
      worker(number).unanswered().add(static_cast<std::uint32_t>(keys.size()));
    }
    for (const Key key : keys) operation.items.emplace_back(key, 0, 0);
    operation.destination = value_;
    operation.remaining = static_cast<std::uint32_t>(keys.size());
    worker(number).opened(operation);
    if (kind == OperationKind::localize) {
      rank(number).localize_requests().handle_submission(operation);
    } else {
      rank(number).access().handle_submission(operation);
    }
    rank(number).end_turn();
    return operation;
  }
  StallQuestion& ask(std::size_t number, std::optional<std::uint32_t> collective_calls = std::nullopt) {
    StallQuestion& question = worker(number).stall_question();
    question.collective_calls = collective_calls;
    question.group = worker(number).seat().group;
    question.finished = false;
    rank(number).stall_inquiry().handle_submission(question);
    rank(number).end_turn();
    return question;
  }
  // Delivers the waiting packets from one rank to another.
  void deliver(std::int32_t from, std::int32_t to) {
    for (bool more = true; more;) {
      more = false;
      for (const auto& choice : network_.deliverable()) {
        if (choice.from != Rank(from) || choice.to != Rank(to)) continue;
        network_.deliver(choice, [&](Rank sender, std::span<const std::byte> packet) {
          rank(static_cast<std::size_t>(to)).handle_packet(sender, packet);
        });
        rank(static_cast<std::size_t>(to)).end_turn();
        more = true;
        break;
      }
    }
  }
  void time_passes(std::size_t number) {
    rank(number).handle_deadline(ProtocolModule::Clock::now() + 2 * StallInquiry::kPatience);
  }

 private:
  std::byte value_[8];
  LoopbackNetwork network_{3, false};
  DomainMap domains_ = DomainMap::of_ranks(3);
  Router router_;
  PrivateRegionAllocator regions_;
  std::vector<std::unique_ptr<RankProtocol>> protocols_;
};

}  // namespace

TEST_CASE("An inquiry finds a key on its way, by its home, and what is queued for it") {
  InquiringRanks ranks;
  ranks.submit(2, OperationKind::localize);
  ranks.deliver(2, 1);  // The home transfers the key; the TRANSFER waits.
  ranks.submit(2, OperationKind::pull);
  ranks.submit(0, OperationKind::pull);
  const StallQuestion& question = ranks.ask(0);
  REQUIRE(question.keys.size() == 1);
  CHECK(question.keys[0].key == kInquiryKey);
  CHECK(question.keys[0].kind == OperationKind::pull);
  CHECK(question.keys[0].home == Rank(1));
  ranks.deliver(0, 1);
  ranks.deliver(1, 0);
  CHECK(question.keys[0].owner == Domain(2));
  CHECK_FALSE(question.finished);
  ranks.deliver(0, 2);
  ranks.deliver(2, 0);
  REQUIRE(question.keys[0].at_owner);
  CHECK(question.keys[0].at_owner->role == Role::arriving);
  CHECK(question.keys[0].at_owner->operations == 1);
  CHECK_FALSE(question.finished);  // Now every rank is asked for a sign of life.
  ranks.deliver(0, 1);
  ranks.deliver(0, 2);
  ranks.deliver(1, 0);
  ranks.deliver(2, 0);
  CHECK(question.finished);
  CHECK(question.silent.empty());
  // The worker that localizes the key asks, too: its own rank answers without a message.
  const StallQuestion& own = ranks.ask(2);
  REQUIRE(own.keys.size() == 2);
  CHECK(own.further_keys == 0);
}

TEST_CASE("What a rank waits for until it is synced names the key that is on its way, and its home") {
  InquiringRanks ranks;
  progress_role.assert_held();  // One thread does everything.
  CHECK(find_unsynced(ranks.rank(2).registry(), lapse::steady_time().now()).count == 0);
  ranks.submit(2, OperationKind::localize);
  ranks.deliver(2, 1);
  const UnsyncedRecord arriving = find_unsynced(ranks.rank(2).registry(), lapse::steady_time().now());
  CHECK(static_cast<Unsynced>(arriving.what) == Unsynced::arrival);
  CHECK(arriving.key == kInquiryKey.value());
  CHECK(arriving.count == 1);
  CHECK(arriving.peer == 1);
  ranks.deliver(1, 2);
  CHECK(find_unsynced(ranks.rank(2).registry(), lapse::steady_time().now()).count == 0);
  // Leased, with an operation that waits for it.
  REQUIRE(ranks.rank(2).registry().tables()[0]->store().grant_lease(kInquiryKey));
  CHECK(find_unsynced(ranks.rank(2).registry(), lapse::steady_time().now()).count == 0);
  ranks.submit(0, OperationKind::pull);
  ranks.deliver(0, 1);
  ranks.deliver(1, 2);
  const UnsyncedRecord leased = find_unsynced(ranks.rank(2).registry(), lapse::steady_time().now());
  CHECK(static_cast<Unsynced>(leased.what) == Unsynced::arrival);
  CHECK(leased.key == kInquiryKey.value());
}

TEST_CASE("An inquiry finds the rank that has the value of a key that others have asked for") {
  InquiringRanks ranks;
  TableShard& table = *ranks.rank(1).registry().tables()[0];
  REQUIRE(table.store().grant_lease(kInquiryKey));
  ranks.submit(0, OperationKind::localize);
  ranks.deliver(0, 1);  // The lease delays the home's order.
  const StallQuestion& first = ranks.ask(0);
  ranks.deliver(0, 1);
  ranks.deliver(1, 0);
  ranks.deliver(0, 1);
  ranks.deliver(1, 0);
  ranks.deliver(0, 2);
  ranks.deliver(2, 0);
  CHECK(first.finished);
  REQUIRE(first.keys.size() == 1);
  CHECK(first.keys[0].owner == Domain(1));
  CHECK(first.keys[0].owner_rank == Rank(1));
  REQUIRE(first.keys[0].at_owner);
  CHECK(first.keys[0].at_owner->leased);
  CHECK(first.keys[0].at_owner->instructed);
  // Another rank requests it: the order to transfer it waits on rank 0.
  ranks.submit(2, OperationKind::localize);
  ranks.deliver(2, 1);
  ranks.deliver(1, 0);
  const StallQuestion& second = ranks.ask(2);
  ranks.deliver(2, 1);
  ranks.deliver(1, 2);
  ranks.deliver(2, 0);
  ranks.deliver(0, 2);
  CHECK(second.keys[0].owner == Domain(0));
  CHECK(second.keys[0].at_owner->instructed);
  CHECK_FALSE(second.finished);
  ranks.deliver(2, 1);
  ranks.deliver(1, 2);
  CHECK(second.finished);
  CHECK(second.keys[0].owner == Domain(1));
  CHECK(second.keys[0].at_owner->leased);
}

TEST_CASE("A key that is answered already is not asked about, whatever its pin holds by now") {
  InquiringRanks ranks;
  constexpr Key kAnswered(6);  // at home on rank 2
  OperationState& first = ranks.submit(0, OperationKind::pull, {kInquiryKey, kAnswered});
  ranks.deliver(0, 2);
  ranks.deliver(2, 0);
  REQUIRE(first.remaining == 1);
  // A later operation is held by the pin, which is of another key by now.
  OperationState& later = ranks.worker(0).acquire();
  PinnedKey pinned;
  first.items[1].pinned = &pinned;
  pinned.held.push_back({&later, 0});
  const StallQuestion& question = ranks.ask(0);
  REQUIRE(question.keys.size() == 1);
  CHECK(question.keys[0].key == kInquiryKey);
  CHECK(question.further_keys == 0);
}

TEST_CASE("A rank that does not answer in time is silent, and what it answers later is ignored") {
  InquiringRanks ranks;
  ranks.submit(0, OperationKind::pull);
  const StallQuestion& question = ranks.ask(0);
  ranks.time_passes(0);
  CHECK(question.finished);
  CHECK(question.silent == std::vector<Rank>{Rank(1)});
  CHECK_FALSE(question.keys[0].owner);
  CHECK_FALSE(ranks.rank(0).next_deadline());
  ranks.deliver(0, 1);
  ranks.deliver(1, 0);
  CHECK(question.silent == std::vector<Rank>{Rank(1)});
  CHECK_FALSE(ranks.rank(0).failure().raised());
}

TEST_CASE("An inquiry finds the workers that have not arrived to a collective call, on every rank") {
  InquiringRanks ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) ranks.worker(rank).count_collective_call();
  ranks.worker(2, 1).count_collective_call();
  ranks.worker(1, 1).set_activity(WorkerActivity::operations);
  const StallQuestion& question = ranks.ask(0, 1);
  for (std::int32_t other = 1; other < 3; ++other) {
    ranks.deliver(0, other);
    ranks.deliver(other, 0);
  }
  CHECK(question.finished);
  CHECK(question.silent.empty());
  REQUIRE(question.absent.size() == 2);
  CHECK(question.absent[0].rank == Rank(0));
  CHECK(question.absent[0].worker == 1);
  CHECK(question.absent[0].activity == WorkerActivity::application);
  CHECK(question.absent[1].rank == Rank(1));
  CHECK(question.absent[1].worker == 3);
  CHECK(question.absent[1].activity == WorkerActivity::operations);
  CHECK(question.further_absent == 0);
}

TEST_CASE("An inquiry about a collective call of a group finds the workers of that group alone") {
  InquiringRanks ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t index = 0; index < 2; ++index)
      ranks.worker(rank, index).take_seat({.group = 1 + index, .number = rank});
  }
  ranks.worker(0).count_collective_call();
  const StallQuestion& question = ranks.ask(0, 1);
  for (std::int32_t other = 1; other < 3; ++other) {
    ranks.deliver(0, other);
    ranks.deliver(other, 0);
  }
  CHECK(question.finished);
  REQUIRE(question.absent.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(question.absent[i].rank.index() == i + 1);
    CHECK(question.absent[i].worker == i + 1);
  }
}

TEST_CASE("Inquiries that are damaged are refused") {
  InquiringRanks ranks;
  const auto send = [&](FrameKind kind, std::uint32_t bytes, std::uint64_t first, Rank from = Rank(1)) {
    FrameHeader header;
    header.kind = static_cast<std::uint16_t>(kind);
    header.count = 1;
    header.record_bytes = bytes;
    header.operation = 1;
    std::vector<std::byte> packet(sizeof header + bytes);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &first, sizeof first);
    ranks.rank(0).handle_packet(from, packet);
  };
  CHECK_THROWS_AS(send(FrameKind::key_inquiry, 8, 0), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::key_inquiry, 16, 9), ProtocolError);  // no such key
  CHECK_THROWS_AS(send(FrameKind::worker_inquiry, 8, 0), ProtocolError);
  ranks.submit(0, OperationKind::pull);
  ranks.ask(0);
  CHECK_THROWS_AS(send(FrameKind::worker_inquiry_answer, 96, 0, Rank(2)), ProtocolError);  // not asked
  CHECK_THROWS_AS(send(FrameKind::key_inquiry_answer, 32, 7), ProtocolError);              // no such item
}
