// Ranks, each a domain, whose messages wait until a test delivers them, and are counted by kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/protocol/table_copies.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/table_shard_builder.hpp"

namespace lapse::test {

// One table of integers of which keys may have copies; all keys are at home on rank 0. Rounds begin when a
// test says so.
class ReplicatingRanks {
 public:
  ReplicatingRanks(std::int32_t ranks, std::uint64_t keys, std::uint64_t max_units,
                   std::size_t credit_bytes = Credits::kDefaultLimit)
      : network_(ranks, false),
        domains_(DomainMap::of_ranks(ranks)),
        sources_(static_cast<std::size_t>(ranks)) {
    const ValueLayout layout{
        .type = ElementType::int64, .length = 1, .state = {}, .copies = Copies::differences};
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      RankProtocol& protocol =
          *protocols_.emplace_back(std::make_unique<RankProtocol>(network_.endpoint(Rank(rank)), router_));
      HomeMap homes = HomeMap::custom(keys, ranks, Domain(rank), [](Key) { return 0; });
      protocol.registry().add(build_table_shard({.max_units = max_units}, domains_, Rank(rank),
                                                std::move(homes), false, keys, ValueSizes(layout), regions_));
      protocol.registry().prepare_workers(1, static_cast<std::size_t>(rank));
      protocol.replication().set_times({.interval = std::nullopt, .credit_bytes = credit_bytes});
      protocol.replication().set_source(&sources_[static_cast<std::size_t>(rank)]);
    }
  }

  RankProtocol& protocol(std::size_t rank) { return *protocols_[rank]; }
  TableShard& table(std::size_t rank) { return *protocol(rank).registry().tables()[0]; }
  TableCopies& copies(std::size_t rank) { return *table(rank).copies(); }
  Role role(std::size_t rank, Key key) { return table(rank).store().word(key).role(); }

  // The rank's workers want the keys from its next round on; or no longer.
  void want(std::size_t rank, std::span<const Key> keys) { sources_[rank].add(keys, true); }
  void unwant(std::size_t rank, std::span<const Key> keys) { sources_[rank].add(keys, false); }
  void round(std::size_t rank) {
    progress_role.assert_held();  // One thread does everything.
    protocol(rank).replication().round(Replication::Clock::now());
    protocol(rank).end_turn();
  }
  // A worker of the rank localizes the key.
  void localize(std::size_t rank, Key key) {
    progress_role.assert_held();  // One thread does everything.
    OperationState& operation = protocol(rank).registry().workers()[0]->acquire();
    operation.kind = OperationKind::localize;
    operation.table = &table(rank);
    operation.items.emplace_back(key, nullptr, 0, 0);
    operation.remaining = 1;
    protocol(rank).registry().workers()[0]->opened(operation);
    protocol(rank).localize_requests().handle_submission(operation);
    protocol(rank).end_turn();
  }
  // A worker of the rank pushes to the copy that is there; false where there is none.
  bool push(std::size_t rank, Key key, std::int64_t update) {
    return static_cast<bool>(table(rank).push_any(*table(rank).store().find(key), key,
                                                  reinterpret_cast<const std::byte*>(&update), 1.0F));
  }
  std::int64_t value(std::size_t rank, Key key) {
    std::int64_t value = 0;
    table(rank).store().read_at(*table(rank).store().find(key), reinterpret_cast<std::byte*>(&value),
                                sizeof value);
    return value;
  }

  // Delivers everything, also what is sent meanwhile; nothing to the rank that does not run.
  void deliver_all(std::optional<std::size_t> stopped = std::nullopt) {
    progress_role.assert_held();  // One thread does everything.
    for (bool delivered = true; delivered;) {
      delivered = false;
      for (const LoopbackNetwork::Choice& choice : network_.deliverable()) {
        if (choice.to.index() == stopped) continue;
        deliver(choice);
        delivered = true;
        break;
      }
    }
  }

  // Records that were delivered since the last call, by kind.
  using Records = std::map<FrameKind, std::uint64_t>;
  Records take_records() { return std::exchange(records_, {}); }

 private:
  void deliver(const LoopbackNetwork::Choice& choice) LAPSE_REQUIRES(progress_role) {
    RankProtocol& to = protocol(choice.to.index());
    network_.deliver(choice, [&](Rank from, std::span<const std::byte> packet) {
      progress_role.assert_held();  // Called in place.
      count(packet);
      to.handle_packet(from, packet);
    });
    to.end_turn();
  }

  class Source final : public IntentSource {
   public:
    void add(std::span<const Key> keys, bool on) { changes_.push_back({{keys.begin(), keys.end()}, on}); }
    void begin_round(WantSink& sink) override {
      for (const auto& [keys, on] : std::exchange(changes_, {})) {
        if (on) {
          sink.want(TableId(0), keys);
        } else {
          sink.unwant(TableId(0), keys);
        }
      }
    }
    bool pending() const override { return !changes_.empty(); }

   private:
    std::vector<std::pair<std::vector<Key>, bool>> changes_;
  };

  void count(std::span<const std::byte> packet) {
    while (!packet.empty()) {
      FrameHeader header;
      std::memcpy(&header, packet.data(), sizeof header);
      records_[static_cast<FrameKind>(header.kind)] += header.count;
      const std::size_t records = padded_bytes(std::size_t{header.count} * header.record_bytes);
      packet = packet.subspan(std::min(sizeof header + records, packet.size()));
    }
  }

  LoopbackNetwork network_;
  DomainMap domains_;
  Router router_;
  PrivateRegionAllocator regions_;
  std::vector<Source> sources_;
  std::vector<std::unique_ptr<RankProtocol>> protocols_;
  Records records_;
};

}  // namespace lapse::test
