// REFUSE, at the home that sends it and at the rank that receives it.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/protocol/records/key_failure_records.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"
#include "test/support/thrown_text.hpp"
#include "test/unit/protocol_outbox_packets.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::delivered;
using lapse::test::header_at;
using lapse::test::Packet;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kRoom = 2;

// Rank 0 of two, with a sparse table that can store two keys.
class RefusedRank {
 public:
  RefusedRank() : domains_(DomainMap::of_ranks(2)), protocol_(network.endpoint(Rank(0)), router_) {
    const HomeMap homes = HomeMap::sparse_hash(2, Domain(0));
    for (std::uint64_t number = 0; number < 100; ++number)
      (homes.home(Key(number)) == Domain(0) ? own : others).emplace_back(number);
    protocol_.registry().add(
        test::build_table_shard({}, domains_, Rank(0), HomeMap::sparse_hash(2, Domain(0)), true, kRoom,
                                ValueSizes(ValueLayout{ElementType::int32, 1, 0}), regions_));
    protocol_.registry().prepare_workers(1);
  }

  TableShard& table() { return *protocol_.registry().tables().front(); }
  WorkerEndpoint& worker() { return *protocol_.registry().workers().front(); }
  Role role(Key key) { return table().store().word(key).role(); }

  template <class Record>
  void receive(FrameKind kind, const Record& record, std::int32_t domain = 1) {
    FrameHeader header = test::header(kind);
    header.domain = domain;
    header.count = 1;
    header.record_bytes = sizeof record;
    Packet packet(sizeof header + sizeof record);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &record, sizeof record);
    protocol_.handle_packet(Rank(1), packet);
  }
  struct Refusal {
    std::uint64_t key;
    char text[8];
  };
  void refuse(Key key) { receive(FrameKind::refuse, Refusal{key.value(), "no room"}); }

  OperationState& localize(Key key) {
    OperationState& operation = worker().acquire();
    operation.kind = OperationKind::localize;
    operation.table = &table();
    operation.items.emplace_back(key, 0, 0);
    operation.remaining = 1;
    operation.handler = &protocol_.localize_requests();
    worker().opened(operation);
    operation.handler->handle_submission(operation);
    return operation;
  }
  // The packets that rank 1 receives.
  std::vector<Packet> sent() {
    protocol_.end_turn();
    std::vector<Packet> packets = delivered(network, Rank(1));
    for (Packet& packet : delivered(network, Rank(1), Transport::Lane::bulk))
      packets.push_back(std::move(packet));
    return packets;
  }
  const RankProtocol& protocol() const { return protocol_; }

  LoopbackNetwork network{2, true};
  std::vector<Key> own;  // keys whose home is this rank
  std::vector<Key> others;

 private:
  DomainMap domains_;
  Router router_;
  PrivateRegionAllocator regions_;
  RankProtocol protocol_;
};

}  // namespace

TEST_CASE("A home without room answers LOCALIZE with REFUSE, and has not changed") {
  RefusedRank rank;
  for (std::uint64_t i = 0; i < kRoom; ++i) rank.table().create(rank.own[i]);
  const Key key = rank.own[kRoom];
  rank.receive(FrameKind::localize, LocalizeRecord{key.value()});
  const std::vector<Packet> sent = rank.sent();
  REQUIRE(sent.size() == 1);
  const FrameHeader header = header_at(sent[0], 0);
  CHECK(static_cast<FrameKind>(header.kind) == FrameKind::refuse);
  const KeyFailure failure = read_key_failure("table", header, sent[0].data() + sizeof header);
  CHECK(failure.kind == KeyFailure::Kind::out_of_memory);
  CHECK(failure.key == key);
  const std::string text = thrown_text<OutOfMemory>([&] { failure.raise(); });
  CHECK(contains(text, "key " + std::to_string(key.value()) + " of table 'table' on rank 0"));
  CHECK(rank.table().is_uninitialized(key));
  CHECK_FALSE(rank.table().store().known(key).has_value());
}

TEST_CASE("A refused localize has failed, and the key is absent") {
  RefusedRank rank;
  const Key key = rank.others[0];
  OperationState& first = rank.localize(key);
  OperationState& second = rank.localize(key);
  CHECK(rank.role(key) == Role::arriving);
  CHECK_FALSE(rank.protocol().idle(IdleLevel::answered));
  REQUIRE(rank.sent().size() == 1);
  rank.refuse(key);
  CHECK(rank.sent().empty());
  for (OperationState* operation : {&first, &second}) {
    CHECK(operation->done());
    REQUIRE(operation->failure);
    CHECK(operation->failure->key == key);
    CHECK(operation->failure->text == "no room");
  }
  CHECK(rank.role(key) == Role::absent);
  CHECK(rank.protocol().idle(IdleLevel::answered));
  // The key may be requested again.
  rank.localize(key);
  CHECK(rank.role(key) == Role::arriving);
}

TEST_CASE("A rank without room asks no home") {
  RefusedRank rank;
  for (std::uint64_t i = 0; i < kRoom; ++i) rank.localize(rank.others[i]);
  static_cast<void>(rank.sent());
  OperationState& operation = rank.localize(rank.others[kRoom]);
  CHECK(operation.done());
  REQUIRE(operation.failure);
  CHECK(operation.failure->kind == KeyFailure::Kind::out_of_memory);
  CHECK(operation.failure->where == Rank(0));
  CHECK(rank.sent().empty());
}

TEST_CASE("A REFUSE that the protocol excludes is an error") {
  const auto not_asked = [] {
    RefusedRank rank;
    rank.refuse(rank.others[0]);
  };
  CHECK(contains(thrown_text<ProtocolError>(not_asked), "did not ask for it"));
  const auto behind_instruct = [] {
    RefusedRank rank;
    rank.localize(rank.others[0]);
    rank.receive(FrameKind::instruct, InstructRecord{.key = rank.others[0].value(), .relocations = 2});
    rank.refuse(rank.others[0]);
  };
  CHECK(contains(thrown_text<ProtocolError>(behind_instruct), "the home has given it to"));
  const auto without_text = [] {
    RefusedRank rank;
    rank.localize(rank.others[0]);
    rank.receive(FrameKind::refuse, KeyFailureRecord{rank.others[0].value()});
  };
  CHECK(contains(thrown_text<ProtocolError>(without_text), "no message"));
}
