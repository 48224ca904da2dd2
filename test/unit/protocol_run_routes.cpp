#include "lapse/protocol/run_routes.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;

namespace {

constexpr std::uint64_t kKeys = 12;  // four at home on each of three ranks

// Three ranks, each a domain. On rank 1 then: keys 0 and 1 have been localized, 2 has a hint to rank 2,
// 3 none; 4 is leased, 5 has gone to rank 0 and 6 to rank 2, 7 is where it began; 8 arrives, 9 has a hint to
// its home, 10 one to rank 0, 11 none.
class RoutingRanks {
 public:
  RoutingRanks() {
    for (std::int32_t rank = 0; rank < 3; ++rank) {
      auto& protocol =
          protocols_.emplace_back(std::make_unique<RankProtocol>(network_.endpoint(Rank(rank)), router_));
      protocol->registry().add(
          test::build_table_shard({}, domains_, Rank(rank), HomeMap::range(kKeys, 3, Domain(rank)), false,
                                  kKeys, ValueSizes(ValueLayout{ElementType::int64, 1, {}}), regions_));
      protocol->registry().prepare_workers(1, static_cast<std::size_t>(rank));
    }
    localize(1, {Key(0), Key(1)});
    localize(0, {Key(5)});
    localize(2, {Key(6)});
    for (const auto& [key, to] : {std::pair(2, 2), {9, 2}, {10, 0}})
      table().remember_location(Key(static_cast<std::uint64_t>(key)), Domain(to));
    REQUIRE(table().store().grant_lease(Key(4)));
    localize(1, {Key(8)}, false);
  }

  TableShard& table() { return *protocols_[1]->registry().tables()[0]; }
  OperationState& operation(const std::vector<std::uint64_t>& keys) {
    OperationState& operation = worker(1).acquire();
    operation.table = &table();
    for (const std::uint64_t key : keys) operation.items.emplace_back(Key(key), nullptr, 0, 0);
    return operation;
  }

 private:
  WorkerEndpoint& worker(std::size_t rank) { return *protocols_[rank]->registry().workers()[0]; }
  void localize(std::size_t rank, const std::vector<Key>& keys, bool deliver = true) {
    OperationState& operation = worker(rank).acquire();
    operation.kind = OperationKind::localize;
    operation.table = protocols_[rank]->registry().tables()[0].get();
    for (const Key key : keys) operation.items.emplace_back(key, nullptr, 0, 0);
    operation.remaining = static_cast<std::uint32_t>(keys.size());
    worker(rank).opened(operation);
    protocols_[rank]->localize_requests().handle_submission(operation);
    protocols_[rank]->end_turn();
    if (!deliver) return;
    for (auto choices = network_.deliverable(); !choices.empty(); choices = network_.deliverable()) {
      const Rank to = choices[0].to;
      network_.deliver(choices[0], [&](Rank from, std::span<const std::byte> packet) {
        protocols_[to.index()]->handle_packet(from, packet);
      });
      protocols_[to.index()]->end_turn();
    }
    REQUIRE(operation.done());
  }

  LoopbackNetwork network_{3, false};
  DomainMap domains_ = DomainMap::of_ranks(3);
  Router router_;
  PrivateRegionAllocator regions_;
  std::vector<std::unique_ptr<RankProtocol>> protocols_;
};

using Positions = std::vector<std::uint32_t>;

// The indices of a bucket's items.
Positions items_of(const OperationState& operation, const RunRoutes::Bucket& bucket) {
  Positions items;
  for (std::uint32_t at = bucket.begin; at < bucket.end; ++at)
    items.push_back(operation.order.empty() ? at : operation.order[at]);
  return items;
}

Positions others_of(const RunRoutes& routes) {
  return {routes.others().begin(), routes.others().end()};
}

}  // namespace

TEST_CASE("Keys are sorted by destination and way, in their order; what is not plain is left to others") {
  RoutingRanks ranks;
  RunRoutes routes;
  OperationState& operation = ranks.operation({11, 0, 5, 3, 2, 8, 10, 6, 7, 9, 4, 1, 5, 11, 3});
  routes.choose(operation);
  struct Expected {
    std::int32_t to;
    bool by_home;
    Positions items;
  };
  // In the order of first use. Ways differ: an operation that the home has routed, and one sent to a hint.
  const std::vector<Expected> expected{
      {2, false, {0, 4, 9, 13}}, {0, true, {2, 12}}, {0, false, {3, 6, 14}}, {2, true, {7}}};
  REQUIRE(routes.buckets().size() == expected.size());
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const RunRoutes::Bucket& bucket = routes.buckets()[i];
    CHECK(bucket.to == Rank(expected[i].to));
    CHECK(bucket.by_home == expected[i].by_home);
    CHECK(bucket.begin == end);
    CHECK(items_of(operation, bucket) == expected[i].items);
    for (const std::uint32_t item : expected[i].items)
      CHECK(operation.items[item].sent_to == Domain(expected[i].to));
    end = bucket.end;
  }
  CHECK(others_of(routes) == Positions{1, 5, 8, 10, 11});
  // Only a cached location is an entry that later operations follow.
  for (std::size_t i = 0; i < operation.items.size(); ++i) {
    const std::uint64_t key = operation.items[i].key.value();
    CHECK(operation.items[i].by_entry == (key == 2 || key == 10));
  }
}

TEST_CASE("Each item is routed as the router decides about it alone") {
  RoutingRanks ranks;
  RunRoutes routes;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    INFO("key " << key);
    OperationState& operation = ranks.operation({key});
    routes.choose(operation);
    const Route route = Router().route_own(ranks.table().view(Key(key)), Pin{});
    if (routes.buckets().empty()) {
      CHECK(route.action != Route::Action::send);
      CHECK(others_of(routes) == Positions{0});
      continue;
    }
    REQUIRE(routes.buckets().size() == 1);
    CHECK(routes.others().empty());
    CHECK(operation.order.empty());
    CHECK(route.action == Route::Action::send);
    CHECK(route.to == operation.items[0].sent_to);
    CHECK(route.by_home == routes.buckets()[0].by_home);
    CHECK(route.is_entry == operation.items[0].by_entry);
  }
}

TEST_CASE("A key with an entry is left to others, wherever it is") {
  RoutingRanks ranks;
  RunRoutes routes;
  OperationState& operation = ranks.operation({3, 11, 3, 5});
  UnansweredKey entry;
  operation.items[2].entry = &entry;
  operation.items[3].entry = &entry;
  routes.choose(operation);
  CHECK(others_of(routes) == Positions{2, 3});
  REQUIRE(routes.buckets().size() == 2);
  CHECK(items_of(operation, routes.buckets()[0]) == Positions{0});
  CHECK(items_of(operation, routes.buckets()[1]) == Positions{1});
}

TEST_CASE("Items that all go one way keep their order, and nothing is left of an operation before") {
  RoutingRanks ranks;
  RunRoutes routes;
  routes.choose(ranks.operation({0, 11, 3, 5, 6}));
  OperationState& operation = ranks.operation({3, 3, 10, 3});
  routes.choose(operation);
  CHECK(operation.order.empty());
  CHECK(routes.others().empty());
  REQUIRE(routes.buckets().size() == 1);
  CHECK(items_of(operation, routes.buckets()[0]) == Positions{0, 1, 2, 3});
  // Without a plain item there is no bucket.
  OperationState& local = ranks.operation({7, 0, 8});
  routes.choose(local);
  CHECK(routes.buckets().empty());
  CHECK(others_of(routes) == Positions{0, 1, 2});
}
