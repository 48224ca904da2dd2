#include "lapse/protocol/key/run_routes.hpp"

#include <span>
#include <utility>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

constexpr std::uint64_t kRoutedKeys = WaitingRanks::kKeys;

// On rank 1: keys 0 and 1 have been localized, 2 has a hint to rank 2, 3 has none; 4 is leased, 5 has moved
// to rank 0 and 6 to rank 2, 7 has never moved; 8 is arriving, 9 has a hint to its home, 10 one to rank 0, 11
// none.
class RoutingRanks {
 public:
  RoutingRanks() {
    ranks_.submit(1, OperationKind::localize, {Key(0), Key(1)});
    ranks_.submit(0, OperationKind::localize, {Key(5)});
    ranks_.submit(2, OperationKind::localize, {Key(6)});
    ranks_.deliver_all();
    for (const auto& [key, to] : {std::pair(2, 2), {9, 2}, {10, 0}})
      table().remember_location(Key(static_cast<std::uint64_t>(key)), Domain(to));
    REQUIRE(table().store().grant_lease(Key(4)));
    ranks_.submit(1, OperationKind::localize, {Key(8)});
  }

  TableShard& table() { return ranks_.table(1); }
  OperationState& operation(const std::vector<std::uint64_t>& keys) {
    OperationState& operation = ranks_.worker(1).acquire();
    operation.table = &table();
    ranks_.worker(1).unanswered().begin(operation, table().id());
    for (const std::uint64_t key : keys) operation.items.emplace_back(Key(key), 0, 0);
    return operation;
  }

 private:
  WaitingRanks ranks_;
};

using Positions = std::vector<std::uint32_t>;

// The indices of a bucket's items.
Positions items_of(const OperationState& operation, const RunRoutes::Bucket& bucket) {
  Positions items;
  for (std::uint32_t at = bucket.begin; at < bucket.end; ++at)
    items.push_back(operation.reordered ? operation.order[at] : at);
  return items;
}

// Indices of the items from `first` on.
void choose(RunRoutes& routes, OperationState& operation, std::size_t first = 0) {
  progress_role.assert_held();
  const std::span items = std::span(operation.items).subspan(first);
  operation.worker->routes().begin(operation, items.size());
  routes.begin(operation, first, items.size());
  routes.add_all(items);
  routes.end(operation);
}

Positions others_of(const RunRoutes& routes) {
  return {routes.others().begin(), routes.others().end()};
}

}  // namespace

TEST_CASE("Keys are sorted by destination and way, in their order; what is not plain is left to others") {
  RoutingRanks ranks;
  RunRoutes routes;
  OperationState& operation = ranks.operation({11, 0, 5, 3, 2, 8, 10, 6, 7, 9, 4, 1, 5, 11, 3});
  choose(routes, operation);
  struct Expected {
    std::int32_t to;
    bool by_home;
    Positions items;
  };
  // In the order of first use. An operation that the home has routed and one sent to a hint use different
  // routes.
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
  // Only a cached location becomes an entry that later operations follow.
  for (std::size_t i = 0; i < operation.items.size(); ++i) {
    const std::uint64_t key = operation.items[i].key.value();
    CHECK(operation.items[i].by_entry == (key == 2 || key == 10));
  }
}

TEST_CASE("Each item is routed as the router decides about it alone") {
  RoutingRanks ranks;
  RunRoutes routes;
  for (std::uint64_t key = 0; key < kRoutedKeys; ++key) {
    INFO("key " << key);
    OperationState& operation = ranks.operation({key});
    choose(routes, operation);
    const Route route = Router().route_own(ranks.table().view(Key(key)), Pin{});
    if (routes.buckets().empty()) {
      CHECK(route.action != Route::Action::send);
      CHECK(others_of(routes) == Positions{0});
      continue;
    }
    REQUIRE(routes.buckets().size() == 1);
    CHECK(routes.others().empty());
    CHECK_FALSE(operation.reordered);
    CHECK(route.action == Route::Action::send);
    CHECK(route.to == operation.items[0].sent_to);
    CHECK(route.by_home == routes.buckets()[0].by_home);
    CHECK(route.is_entry == operation.items[0].by_entry);
  }
}

TEST_CASE("A key whose route has changed since an unanswered operation is left to others, wherever it is") {
  RoutingRanks ranks;
  RunRoutes routes;
  OperationState& earlier = ranks.operation({3, 11, 5});
  choose(routes, earlier);
  REQUIRE(routes.others().empty());
  earlier.remaining = 3;
  ranks.table().remember_location(Key(3), Domain(2));
  OperationState& operation = ranks.operation({3, 11, 3, 5, 6});
  choose(routes, operation);
  CHECK(others_of(routes) == Positions{0, 2});
  REQUIRE(routes.buckets().size() == 3);
  CHECK(items_of(operation, routes.buckets()[0]) == Positions{1});
  CHECK(items_of(operation, routes.buckets()[1]) == Positions{3});
  CHECK(items_of(operation, routes.buckets()[2]) == Positions{4});
}

TEST_CASE("Items that all go one way keep their order, and nothing is left of an operation before") {
  RoutingRanks ranks;
  RunRoutes routes;
  choose(routes, ranks.operation({0, 11, 3, 5, 6}));
  OperationState& operation = ranks.operation({3, 3, 10, 3});
  choose(routes, operation);
  CHECK_FALSE(operation.reordered);
  CHECK(routes.others().empty());
  REQUIRE(routes.buckets().size() == 1);
  CHECK(items_of(operation, routes.buckets()[0]) == Positions{0, 1, 2, 3});
  // Without a plain item there is no bucket.
  OperationState& local = ranks.operation({7, 0, 8});
  choose(routes, local);
  CHECK(routes.buckets().empty());
  CHECK(others_of(routes) == Positions{0, 1, 2});
}

TEST_CASE(
    "An operation that is routed in pieces has one order: that of the pieces, and of the routes in each") {
  RoutingRanks ranks;
  RunRoutes routes;
  const std::vector<std::uint64_t> all = {3, 10, 3, 11, 7, 0, 3, 10, 5, 3};
  OperationState& operation = ranks.operation(std::vector<std::uint64_t>(all.begin(), all.begin() + 2));
  choose(routes, operation);
  // Only one destination until now: positions equal those of the items.
  CHECK_FALSE(operation.reordered);
  std::vector<bool> seen(all.size(), false);
  const auto visit = [&] {
    for (const RunRoutes::Bucket& bucket : routes.buckets()) {
      for (const std::uint32_t item : items_of(operation, bucket)) {
        CHECK_FALSE(seen[item]);
        seen[item] = true;
      }
    }
    for (const std::uint32_t item : routes.others()) seen[item] = true;
  };
  visit();
  for (std::size_t first = 2; first < all.size(); first += 4) {
    for (std::size_t i = first; i < first + 4; ++i) {
      const auto offset = static_cast<std::uint32_t>(i);
      operation.items.emplace_back(Key(all[i]), offset, offset);
    }
    choose(routes, operation, first);
    visit();
    CHECK(operation.reordered);
  }
  CHECK(std::ranges::all_of(seen, [](bool item) { return item; }));
  // Items that were routed before keep their positions.
  CHECK(operation.item_with(0) == &operation.items[0]);
  CHECK(operation.item_with(1) == &operation.items[1]);
}
