// Localizes of many keys, which move in runs. The results must equal those of moving one key after the other.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;

namespace {

constexpr std::size_t kLength = 5;

// Three ranks with a dense table. After write_values, a key's value is its number, five times.
class MovingKeys {
 public:
  // `room`: the number of values that fit on rank 0; 0: all.
  explicit MovingKeys(std::uint64_t keys, std::uint64_t room = 0) : keys_(keys) {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      RankProtocol& protocol =
          *ranks_.emplace_back(std::make_unique<RankProtocol>(network.endpoint(Rank(rank)), router_));
      test::TableShardSettings settings;
      if (rank == 0) settings.max_units = room;
      protocol.registry().add(test::build_table_shard(
          settings, domains_, Rank(rank), HomeMap::hash(keys, kRanks, Domain(rank)), false, keys,
          ValueSizes(ValueLayout{ElementType::int32, kLength, 0}), regions_));
      protocol.registry().prepare_workers(1);
    }
  }

  TableShard& table(std::int32_t rank) {
    return *ranks_[static_cast<std::size_t>(rank)]->registry().tables().front();
  }
  RankProtocol& protocol(std::int32_t rank) { return *ranks_[static_cast<std::size_t>(rank)]; }

  void write_values() {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      table(rank).store().for_each_here([&](Key key) {
        table(rank).store().update(key, [&](std::byte* to) {
          const std::vector<std::int32_t> value(kLength, static_cast<std::int32_t>(key.value()));
          std::memcpy(to, value.data(), kLength * sizeof value[0]);
        });
      });
    }
  }
  // In one turn of the engine, which sends at its end, or earlier.
  OperationState& localize(std::int32_t rank, std::span<const Key> keys) {
    WorkerEndpoint& worker = *protocol(rank).registry().workers().front();
    OperationState& operation = worker.acquire();
    operation.kind = OperationKind::localize;
    operation.table = &table(rank);
    for (const Key key : keys) operation.items.emplace_back(key, 0U, 0U);
    operation.remaining.store(static_cast<std::uint32_t>(keys.size()));
    worker.opened(operation);
    protocol(rank).localize_requests().handle_submission(operation);
    return operation;
  }
  void end_turn(std::int32_t rank) { protocol(rank).end_turn(); }
  // Delivers at most the given number of packets, in any order that the lanes allow.
  void deliver(RandomEngine& random, std::size_t packets = SIZE_MAX) {
    for (; packets > 0 && !network.deliverable().empty(); --packets) {
      const auto choices = network.deliverable();
      const LoopbackNetwork::Choice choice = choices[random.below(choices.size())];
      const std::size_t index = choice.lane == Transport::Lane::bulk ? random.below(choice.count) : 0;
      network.deliver(
          choice,
          [&](Rank from, std::span<const std::byte> packet) {
            protocol(choice.to.value()).handle_packet(from, packet);
          },
          index);
      end_turn(choice.to.value());
    }
  }
  // Checks that every key has one owner, which its home stores and which has its value, and that the moves
  // left no state.
  void check_quiet() {
    std::uint64_t here = 0;
    TableCounters counters;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      CHECK(table(rank).arrivals().in_use() == 0);
      here += table(rank).store().keys_here();
      counters += table(rank).counters();
    }
    CHECK(here == keys_);
    CHECK(counters.relocations_in == counters.relocations_out);
    for (std::uint64_t number = 0; number < keys_; ++number) {
      const Key key(number);
      const Domain home = table(0).definition().homes.home(key);
      const Domain owner = table(home.value()).view(key).owner_by_table;
      std::vector<std::int32_t> value(kLength);
      for (std::int32_t rank = 0; rank < kRanks; ++rank) {
        const bool local = table(rank).read(key, reinterpret_cast<std::byte*>(value.data()));
        if (local != (rank == owner.value()))
          FAIL("key " << number << ", rank " << rank << ": local " << local);
      }
      if (value != std::vector<std::int32_t>(kLength, static_cast<std::int32_t>(number)))
        FAIL("key " << number << " has a wrong value");
    }
  }
  std::uint64_t packets_in_flight() {
    std::uint64_t packets = 0;
    for (const LoopbackNetwork::Choice& choice : network.deliverable()) packets += choice.count;
    return packets;
  }

  static constexpr std::int32_t kRanks = 3;
  LoopbackNetwork network{kRanks, true};

 private:
  std::uint64_t keys_;
  DomainMap domains_ = DomainMap::of_ranks(kRanks);
  Router router_;
  PrivateRegionAllocator regions_;
  std::vector<std::unique_ptr<RankProtocol>> ranks_;
};

std::vector<Key> all_keys(std::uint64_t count) {
  std::vector<Key> keys;
  for (std::uint64_t key = 0; key < count; ++key) keys.emplace_back(key);
  return keys;
}

}  // namespace

TEST_CASE("Localizes of many keys: every key comes once, with its value, and ranks fight for keys") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    RandomEngine random(seed, 1);
    const std::uint64_t count = 1 + random.below(900);
    MovingKeys keys(count);
    keys.write_values();
    for (int round = 0; round < 4; ++round) {
      std::vector<OperationState*> operations;
      for (int call = 0; call < 6; ++call) {
        const auto rank = static_cast<std::int32_t>(random.below(MovingKeys::kRanks));
        std::vector<Key> wanted;
        // Some keys occur twice, so that arrivals need more than one run.
        for (std::uint64_t i = 0, n = random.below(2 * count); i < n; ++i)
          wanted.emplace_back(random.below(count));
        if (wanted.empty()) continue;
        operations.push_back(&keys.localize(rank, wanted));
        keys.end_turn(rank);
        keys.deliver(random, random.below(8));
      }
      keys.deliver(random);
      for (const OperationState* operation : operations) {
        REQUIRE(operation->done());
        CHECK(operation->failure == nullptr);
      }
      keys.check_quiet();
    }
  }
}

TEST_CASE("Localizes of many keys where there is no room for all: the first ones come, the others fail") {
  constexpr std::uint64_t kKeys = 900;
  constexpr std::uint64_t kRoom = 441;  // 300 for the own keys, one run, and a part of a run
  RandomEngine random(1, 1);
  MovingKeys keys(kKeys, kRoom);
  keys.write_values();
  const std::vector<Key> wanted = all_keys(kKeys);
  for (int round = 0; round < 3; ++round) {
    OperationState& operation = keys.localize(0, wanted);
    keys.end_turn(0);
    keys.deliver(random);
    REQUIRE(operation.done());
    REQUIRE(operation.failure != nullptr);
    CHECK(operation.failure->kind == KeyFailure::Kind::out_of_memory);
    CHECK(keys.table(0).store().keys_here() == kRoom);
    // The keys that were not refused are the first remote ones.
    std::uint64_t last_here = 0;
    keys.table(0).store().for_each_here([&](Key key) { last_here = std::max(last_here, key.value()); });
    const HomeMap& homes = keys.table(0).definition().homes;
    for (std::uint64_t key = 0; round == 0 && key < last_here; ++key) {
      if (homes.home(Key(key)) != Domain(0) && keys.table(0).store().word(Key(key)).role() != Role::owner)
        CHECK(key > kRoom - 300);
    }
    keys.check_quiet();
    // The memory that was set aside for the other keys is free again.
    OperationState& back = keys.localize(1, wanted);
    keys.end_turn(1);
    keys.deliver(random);
    REQUIRE(back.done());
    CHECK(back.failure == nullptr);
    CHECK(keys.table(1).store().keys_here() == kKeys);
    keys.check_quiet();
  }
}

TEST_CASE("The first messages of a localize of many keys leave while the others are made") {
  MovingKeys keys(9'000);
  const std::vector<Key> wanted = all_keys(9'000);
  OperationState& operation = keys.localize(0, wanted);
  CHECK(keys.packets_in_flight() >= 6);
  keys.end_turn(0);
  RandomEngine random(1, 1);
  keys.deliver(random);
  CHECK(operation.done());

  // Few keys: one message for each rank.
  MovingKeys few(900);
  few.localize(0, std::span(wanted).first(900));
  CHECK(few.packets_in_flight() == 0);
  few.end_turn(0);
  CHECK(few.packets_in_flight() == 2);
  few.deliver(random);
}
