// Routes of runs in a domain of several ranks: other ranks may change the route of a key at any time.
#include <array>
#include <cstdint>
#include <vector>

#include "lapse/protocol/key/run_routes.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"

using namespace lapse;

namespace {

// Rank 0 of four, two of which share a domain.
class Neighbours {
 public:
  Neighbours() {
    progress_role.assert_held();
    const HomeMap homes = HomeMap::range(3 * kKeys, 3, Domain(0));
    protocol_.registry().add(test::build_table_shard({}, domains_, Rank(0), homes, false, 3 * kKeys,
                                                     ValueSizes(ValueLayout{ElementType::int32, 1, 0}),
                                                     regions_));
    protocol_.registry().prepare_workers(1);
  }

  TableShard& table() { return *protocol_.registry().tables().front(); }
  // A key with its home in domain 1 that rank 1 serves for domain 0.
  Key key_of_neighbour() {
    std::uint64_t key = kKeys;
    while (table().serves(Key(key))) ++key;
    return Key(key);
  }
  OperationState& operation(std::size_t items, Key key) {
    OperationState& operation = worker().acquire();
    operation.table = &table();
    worker().unanswered().begin(operation, table().id());
    operation.items.assign(items, OperationState::Item(key, 0, 0));
    return operation;
  }
  WorkerEndpoint& worker() { return *protocol_.registry().workers().front(); }

 private:
  static constexpr std::uint64_t kKeys = 100;

  LoopbackNetwork network_{4, false};
  DomainMap domains_ = DomainMap::of_hosts(std::vector<std::int32_t>{0, 0, 1, 2});
  Router router_;
  PrivateRegionAllocator regions_;
  RankProtocol protocol_{network_.endpoint(Rank(0)), router_};
};

using Positions = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("Items of a key keep their order if another rank changes its route between them") {
  Neighbours ranks;
  progress_role.assert_held();
  const Key key = ranks.key_of_neighbour();
  Store& store = ranks.table().store();
  OperationState& operation = ranks.operation(4, key);
  RunRoutes routes;
  const auto add = [&](std::size_t item) LAPSE_REQUIRES(progress_role) {
    std::array<Store::Word*, 1> words{store.find(key)};
    routes.add(std::span(operation.items).subspan(item, 1), words.data());
  };
  SECTION("the key was arriving, and has left again") {
    operation.worker->routes().begin(operation, 4);
    routes.begin(operation, 0, 4);
    add(0);
    store.begin_arrival(key, 0);
    add(1);
    store.refuse(key);
    add(2);
    add(3);
    routes.end(operation);
    CHECK(routes.others().size() == 3);
  }
  SECTION("an earlier operation entered where the key is again") {
    ranks.table().remember_location(key, Domain(2));
    OperationState& earlier = ranks.operation(1, key);
    earlier.worker->routes().begin(earlier, 1);
    routes.begin(earlier, 0, 1);
    std::array<Store::Word*, 1> words{store.find(key)};
    routes.add(earlier.items, words.data());
    routes.end(earlier);
    REQUIRE(routes.others().empty());
    earlier.remaining = 1;

    OperationState& later = ranks.operation(2, key);
    later.worker->routes().begin(later, 2);
    routes.begin(later, 0, 2);
    ranks.table().remember_location(key, Domain(1));
    routes.add(std::span(later.items).first(1), words.data());
    ranks.table().remember_location(key, Domain(2));
    routes.add(std::span(later.items).last(1), words.data());
    routes.end(later);
    CHECK(Positions(routes.others().begin(), routes.others().end()) == Positions{0, 1});
  }
}
