// Localizes of many keys that several ranks of a domain serve.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/protocol/records/relocation_records.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;

namespace {

constexpr std::uint64_t kKeys = 20'000;  // per domain

// Rank 0 of six. The first three are a domain, and the home of all keys is the other domain.
class AskingRank {
 public:
  AskingRank() {
    const HomeMap homes = HomeMap::range(2 * kKeys, 2, Domain(0));
    protocol_.registry().add(test::build_table_shard({}, domains_, Rank(0), homes, false, 2 * kKeys,
                                                     ValueSizes(ValueLayout{ElementType::int32, 1, 0}),
                                                     regions_));
    protocol_.registry().prepare_workers(1);
  }

  TableShard& table() { return *protocol_.registry().tables().front(); }
  // Keys of the other domain that ranks 1 and 2 serve.
  std::vector<Key> keys(std::size_t count) {
    std::vector<Key> keys;
    for (std::uint64_t key = kKeys; keys.size() < count; ++key) {
      if (!table().serves(Key(key))) keys.emplace_back(key);
    }
    return keys;
  }
  std::vector<Key> served_by(std::int32_t rank, std::span<const Key> keys) {
    std::vector<Key> served;
    std::ranges::copy_if(keys, std::back_inserter(served),
                         [&](Key key) { return table().serving_rank(key) == Rank(rank); });
    return served;
  }
  OperationState& localize(std::span<const Key> keys) {
    OperationState& operation = protocol_.registry().workers().front()->acquire();
    operation.kind = OperationKind::localize;
    operation.table = &table();
    for (const Key key : keys) operation.items.emplace_back(key, 0U, 0U);
    operation.remaining.store(static_cast<std::uint32_t>(keys.size()));
    operation.worker->opened(operation);
    protocol_.localize_requests().handle_submission(operation);
    return operation;
  }
  void end_turn() { protocol_.end_turn(); }

  struct Asked {
    std::size_t packets = 0;
    std::size_t frames = 0;
    std::vector<Key> keys;
  };
  // The messages to the other ranks of the domain, by rank.
  std::map<std::int32_t, Asked> take_asked(const OperationState& operation) {
    std::map<std::int32_t, Asked> asked;
    for (std::int32_t to = 1; to < 3; ++to) {
      network_.endpoint(Rank(to)).poll(
          [&](Rank from, std::span<const std::byte> packet) {
            CHECK(from == Rank(0));
            ++asked[to].packets;
            for (std::size_t at = 0; at < packet.size();) {
              FrameHeader header;
              REQUIRE(packet.size() - at >= sizeof header);
              std::memcpy(&header, packet.data() + at, sizeof header);
              at += sizeof header;
              CHECK(header.kind == static_cast<std::uint16_t>(FrameKind::localize_for));
              CHECK(header.origin == 0);
              CHECK(header.operation == operation.number);
              ++asked[to].frames;
              for (std::uint32_t i = 0; i < header.count; ++i, at += sizeof(LocalizeRecord)) {
                LocalizeRecord record;
                std::memcpy(&record, packet.data() + at, sizeof record);
                asked[to].keys.emplace_back(record.key);
              }
            }
          },
          1000);
    }
    return asked;
  }

 private:
  LoopbackNetwork network_{6, false};
  DomainMap domains_ = DomainMap::of_hosts(std::vector<std::int32_t>{0, 0, 0, 1, 1, 1});
  Router router_;
  PrivateRegionAllocator regions_;
  RankProtocol protocol_{network_.endpoint(Rank(0)), router_};
};

}  // namespace

TEST_CASE("A localize of many keys asks each rank that serves some in one message, in the keys' order") {
  AskingRank rank;
  const std::vector<Key> keys = rank.keys(900);
  OperationState& operation = rank.localize(keys);
  CHECK(rank.take_asked(operation).empty());  // the turn sends at its end
  rank.end_turn();
  auto asked = rank.take_asked(operation);
  REQUIRE(asked.size() == 2);
  for (const auto& [to, sent] : asked) {
    CHECK(sent.packets == 1);
    CHECK(sent.frames == 1);
    const bool in_order = sent.keys == rank.served_by(to, keys);
    CHECK(in_order);
  }
}

TEST_CASE("The ranks that serve the keys of a long localize begin before the call has been read to its end") {
  AskingRank rank;
  const std::vector<Key> keys = rank.keys(10'000);
  OperationState& operation = rank.localize(keys);
  auto early = rank.take_asked(operation);
  rank.end_turn();
  const auto late = rank.take_asked(operation);
  REQUIRE(early.size() == 2);
  for (auto& [to, sent] : early) {
    // About 1,024 keys each.
    CHECK(sent.packets == 4);
    CHECK(sent.frames == 4);
    const auto found = late.find(to);
    REQUIRE(found != late.end());
    CHECK(found->second.packets == 1);
    std::ranges::copy(found->second.keys, std::back_inserter(sent.keys));
    const bool in_order = sent.keys == rank.served_by(to, keys);
    CHECK(in_order);
  }
}
