// Ranks, each a domain. Their messages wait until a test delivers them, and are counted by kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/protocol/table/table_copies.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/simulation_borrowed_transport.hpp"
#include "test/support/table_shard_builder.hpp"

namespace lapse::test {

struct ReplicatingRanksSettings {
  bool separate_bulk_lane = false;  // unordered packets use a lane of their own
  bool location_caches = true;
  std::size_t credit_bytes = Credits::kDefaultLimit;
};

// One table of integers whose keys may have replicas. The home of all keys is rank 0. Rounds begin when a
// test says so.
class ReplicatingRanks {
 public:
  using Settings = ReplicatingRanksSettings;

  ReplicatingRanks(std::int32_t ranks, std::uint64_t keys, std::uint64_t max_units,
                   const Settings& settings = {})
      : network_(ranks, settings.separate_bulk_lane),
        domains_(DomainMap::of_ranks(ranks)),
        sources_(static_cast<std::size_t>(ranks)) {
    const ValueLayout layout{
        .type = ElementType::int64, .length = 1, .state = {}, .copies = Copies::differences};
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      Transport& transport =
          *transports_.emplace_back(std::make_unique<InterruptedEndpoint>(network_.endpoint(Rank(rank))));
      RankProtocol& protocol = *protocols_.emplace_back(std::make_unique<RankProtocol>(transport, router_));
      HomeMap homes = HomeMap::custom(keys, ranks, Domain(rank), [](Key) { return 0; });
      protocol.registry().add(
          build_table_shard({.location_caches = settings.location_caches, .max_units = max_units}, domains_,
                            Rank(rank), std::move(homes), false, keys, ValueSizes(layout), regions_));
      protocol.registry().prepare_workers(1, static_cast<std::size_t>(rank));
      protocol.replication().set_times({.interval = std::nullopt, .credit_bytes = settings.credit_bytes});
      protocol.replication().set_source(&sources_[static_cast<std::size_t>(rank)]);
    }
  }

  RankProtocol& protocol(std::size_t rank) { return *protocols_[rank]; }
  TableShard& table(std::size_t rank) { return *protocol(rank).registry().tables()[0]; }
  TableCopies& copies(std::size_t rank) { return *table(rank).copies(); }
  Role role(std::size_t rank, Key key) { return table(rank).store().word(key).role(); }

  // The rank's workers want the keys from its next round on, or stop wanting them.
  void want(std::size_t rank, std::span<const Key> keys) { sources_[rank].add(keys, true); }
  void unwant(std::size_t rank, std::span<const Key> keys) { sources_[rank].add(keys, false); }
  void round(std::size_t rank) {
    progress_role.assert_held();  // One thread does everything.
    protocol(rank).replication().round(Replication::Clock::now());
    protocol(rank).end_turn();
  }
  // A worker of the rank pushes to the local replica. Returns false if there is none.
  bool push(std::size_t rank, Key key, std::int64_t update) {
    return static_cast<bool>(table(rank).push_any(*table(rank).store().find(key), key,
                                                  {.kind = OperationKind::push},
                                                  reinterpret_cast<const std::byte*>(&update)));
  }
  std::int64_t value(std::size_t rank, Key key) {
    std::int64_t value = 0;
    table(rank).store().read_at(*table(rank).store().find(key), reinterpret_cast<std::byte*>(&value),
                                sizeof value);
    return value;
  }

  // A worker of the rank localizes the key; requests that its domain's replicas be synced; leases the key,
  // whose main copy is on the rank, and releases it.
  void localize(std::size_t rank, Key key) { localize(rank, std::span(&key, 1)); }
  void localize(std::size_t rank, std::span<const Key> keys) {
    progress_role.assert_held();  // One thread does everything.
    OperationState& operation = worker(rank).acquire();
    operation.kind = OperationKind::localize;
    operation.table = &table(rank);
    for (const Key key : keys) operation.items.emplace_back(key, 0U, 0U);
    operation.remaining.store(static_cast<std::uint32_t>(keys.size()));
    operation.worker->opened(operation);
    protocol(rank).localize_requests().handle_submission(operation);
    protocol(rank).end_turn();
  }
  void sync(std::size_t rank) {
    progress_role.assert_held();  // One thread does everything.
    worker(rank).sync_request().finished.store(false);
    protocol(rank).synchronization().handle_submission(worker(rank).sync_request());
    protocol(rank).end_turn();
  }
  bool synced(std::size_t rank) { return worker(rank).sync_request().finished.load(); }
  bool lease(std::size_t rank, Key key) { return table(rank).store().grant_lease(key); }
  std::int64_t& leased(std::size_t rank, Key key) {
    return *reinterpret_cast<std::int64_t*>(table(rank).store().leased_content(key));
  }
  void release(std::size_t rank, Key key) {
    progress_role.assert_held();  // One thread does everything.
    if (table(rank).store().release_lease(key)) return protocol(rank).end_turn();
    LeaseRequest& request = worker(rank).lease_request();
    request.items = {{&table(rank), key}};
    request.releasing = true;
    request.finished.store(false);
    protocol(rank).leases().handle_submission(request);
    protocol(rank).end_turn();
  }

  // Holds the waiting packets of one rank to another on the lane until release_packets; on the ordered lane
  // also the packets after them.
  void hold_packets(std::size_t from, std::size_t to, Transport::Lane lane) {
    for (const LoopbackNetwork::Choice& choice : network_.deliverable()) {
      if (choice.from.index() != from || choice.to.index() != to || choice.lane != lane) continue;
      release_packets(from, to, lane, 0);
      held_.push_back(choice);
    }
  }
  // Releases all except the oldest `all_but`.
  void release_packets(std::size_t from, std::size_t to, Transport::Lane lane, std::size_t all_but) {
    std::erase_if(held_, [&](LoopbackNetwork::Choice& held) {
      const bool concerned = held.from.index() == from && held.to.index() == to && held.lane == lane;
      if (concerned) held.count = all_but;
      return held.count == 0;
    });
  }
  void release_packets() { held_.clear(); }
  // Calls f in the middle of the rank's work, like another thread could: when the rank begins its next
  // packet.
  void interrupt(std::size_t rank, std::function<void()> f) {
    transports_[rank]->set_interrupt(std::move(f));
  }
  // Delivers all packets that are not held, including those sent meanwhile. A stopped rank receives none.
  void deliver_all(std::optional<std::size_t> stopped = std::nullopt) {
    while (const auto next = next_packet(stopped)) deliver(*next);
  }
  // Delivers the packets of one rank to another on the ordered lane.
  void deliver_from(std::size_t from, std::size_t to) {
    const LoopbackNetwork::Choice channel{Rank(static_cast<std::int32_t>(from)),
                                          Rank(static_cast<std::int32_t>(to)), Transport::Lane::ordered};
    const auto choices = network_.deliverable();
    for (std::size_t left = waiting(choices, channel); left > 0; --left) deliver(channel);
  }

  // Records that were delivered since the last call, by kind.
  using Records = std::map<FrameKind, std::uint64_t>;
  Records take_records() { return std::exchange(records_, {}); }

 private:
  class InterruptedEndpoint final : public BorrowedTransport {
   public:
    using BorrowedTransport::BorrowedTransport;
    void set_interrupt(std::function<void()> f) { interrupt_ = std::move(f); }
    PacketBuffer acquire_buffer() override {
      if (interrupt_) std::exchange(interrupt_, nullptr)();
      return BorrowedTransport::acquire_buffer();
    }

   private:
    std::function<void()> interrupt_;
  };

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

  WorkerEndpoint& worker(std::size_t rank) { return *protocol(rank).registry().workers()[0]; }

  // The packets of this channel among them.
  static std::size_t waiting(std::span<const LoopbackNetwork::Choice> choices,
                             const LoopbackNetwork::Choice& channel) {
    for (const LoopbackNetwork::Choice& choice : choices)
      if (choice.from == channel.from && choice.to == channel.to && choice.lane == channel.lane)
        return choice.count;
    return 0;
  }
  std::optional<LoopbackNetwork::Choice> next_packet(std::optional<std::size_t> stopped) {
    for (const LoopbackNetwork::Choice& choice : network_.deliverable()) {
      if (choice.to.index() == stopped) continue;
      const std::size_t held = waiting(held_, choice);
      if (held == 0 || (choice.lane == Transport::Lane::bulk && choice.count > held)) return choice;
    }
    return std::nullopt;
  }
  // The oldest packet that is not held.
  void deliver(const LoopbackNetwork::Choice& choice) {
    progress_role.assert_held();  // One thread does everything.
    RankProtocol& to = protocol(choice.to.index());
    const auto handle = [&](Rank from, std::span<const std::byte> packet) {
      progress_role.assert_held();
      count(packet);
      to.handle_packet(from, packet);
    };
    network_.deliver(choice, handle, waiting(held_, choice));
    to.end_turn();
  }

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
  std::vector<std::unique_ptr<InterruptedEndpoint>> transports_;
  std::vector<std::unique_ptr<RankProtocol>> protocols_;
  Records records_;
  std::vector<LoopbackNetwork::Choice> held_;
};

}  // namespace lapse::test
