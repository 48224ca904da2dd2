// Three ranks, each a domain. Their messages wait until a test delivers them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

namespace lapse::test {

// Tables of twelve keys, four with their home on each rank: table 0 with values of one number, table 1 with
// values of different lengths. One worker on each rank.
class WaitingRanks {
 public:
  static constexpr std::uint64_t kKeys = 12;

  // `value_bound`: of both tables.
  explicit WaitingRanks(const std::optional<ValueBound>& value_bound = {}) {
    const ValueLayout layout{ElementType::int64, 1, {}};
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      auto& protocol =
          protocols_.emplace_back(std::make_unique<RankProtocol>(network_.endpoint(Rank(rank)), router_));
      const auto add = [&](std::uint32_t id, ValueSizes sizes) {
        protocol->registry().add(test::build_table_shard(
            {.id = TableId(id), .max_units = 10 * kKeys, .value_bound = value_bound}, domains_, Rank(rank),
            HomeMap::range(kKeys, 3, Domain(rank)), false, kKeys, std::move(sizes), regions_));
      };
      add(0, ValueSizes(layout));
      add(1, ValueSizes::computed(layout, [](Key key) { return 1 + key.value() % 2; }));
      protocol->registry().prepare_workers(1, static_cast<std::size_t>(rank));
    }
  }

  RankProtocol& protocol(std::size_t rank) { return *protocols_[rank]; }
  TableShard& table(std::size_t rank) { return *protocol(rank).registry().tables()[0]; }
  WorkerEndpoint& worker(std::size_t rank) { return *protocol(rank).registry().workers()[0]; }

  // An operation on table 0 that was not submitted.
  OperationState& operation(std::size_t rank, OperationKind kind, std::span<const Key> keys) {
    OperationState& operation = worker(rank).acquire();
    operation.kind = kind;
    operation.scale = 1;
    operation.table = &table(rank);
    operation.row_unit = operation.payload_unit = sizeof(std::int64_t);
    const bool localize = kind == OperationKind::localize;
    if (!localize) {
      worker(rank).unanswered().begin(operation, TableId(0));
      worker(rank).unanswered().add(static_cast<std::uint32_t>(keys.size()));
    }
    for (const Key key : keys) {
      const auto row = static_cast<std::uint32_t>(operation.items.size());
      operation.items.emplace_back(key, row, row);
    }
    operation.remaining = static_cast<std::uint32_t>(keys.size());
    worker(rank).opened(operation);
    return operation;
  }
  // Submits an operation. Push and set take their numbers from `rows`, pull writes to them.
  OperationState& submit(std::size_t rank, OperationKind kind, const std::vector<Key>& keys,
                         std::vector<std::int64_t>* rows = nullptr) {
    OperationState& operation = this->operation(rank, kind, keys);
    if (rows != nullptr && kind == OperationKind::pull) {
      rows->assign(keys.size(), -1);
      operation.destination = reinterpret_cast<std::byte*>(rows->data());
    } else if (rows != nullptr) {
      operation.updates = reinterpret_cast<const std::byte*>(rows->data());
    }
    if (kind == OperationKind::localize) {
      protocol(rank).localize_requests().handle_submission(operation);
    } else {
      protocol(rank).access().handle_submission(operation);
    }
    protocol(rank).end_turn();
    return operation;
  }

  // Delivers all packets, including those sent meanwhile.
  void deliver_all() {
    while (!deliver_next().packet.empty()) {
    }
  }
  // Likewise, except for packets from the first rank to the second.
  void deliver_all_but(Rank from, Rank to) {
    for (bool delivered = true; delivered;) {
      delivered = false;
      for (const LoopbackNetwork::Choice& choice : network_.deliverable()) {
        if (choice.from == from && choice.to == to) continue;
        RankProtocol& protocol = *protocols_[choice.to.index()];
        network_.deliver(choice, [&](Rank sender, std::span<const std::byte> packet) {
          protocol.handle_packet(sender, packet);
        });
        protocol.end_turn();
        delivered = true;
        break;
      }
    }
  }
  struct Delivered {
    Rank from;
    Rank to;
    std::vector<std::byte> packet;
  };
  // Delivers one packet and returns it; an empty one if there is none.
  Delivered deliver_next() {
    Delivered next = take_next();
    if (next.packet.empty()) return next;
    protocol(next.to.index()).handle_packet(next.from, next.packet);
    protocol(next.to.index()).end_turn();
    return next;
  }
  // Removes one packet from the network.
  Delivered take_next() {
    Delivered next;
    const auto choices = network_.deliverable();
    if (choices.empty()) return next;
    next.to = choices[0].to;
    network_.deliver(choices[0], [&](Rank from, std::span<const std::byte> packet) {
      next.from = from;
      next.packet.assign(packet.begin(), packet.end());
    });
    return next;
  }

 private:
  LoopbackNetwork network_{3, false};
  DomainMap domains_ = DomainMap::of_ranks(3);
  Router router_;
  PrivateRegionAllocator regions_;
  std::vector<std::unique_ptr<RankProtocol>> protocols_;
};

}  // namespace lapse::test
