// Custom home maps name ranks. The home is the domain of that rank.
#include "lapse/ps/tables/table_factory.hpp"

#include "lapse/core/error.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

// Ranks 0, 2 and 4 on one host, 1 and 3 on another, 5 on a third.
const std::vector<std::int32_t> kFactoryHosts{0, 1, 0, 1, 0, 5};

struct Network {
  LoopbackNetwork network{6, false};
  PrivateRegionAllocator regions;

  HomeMap home_map(const TableOptions& options, const DomainMap& domains, std::int32_t rank) {
    return TableFactory(regions, network.endpoint(Rank(rank))).home_map(options, domains);
  }
};

TableOptions custom(bool sparse, HomeMap::Function home) {
  TableOptions options{.name = "homes", .home = HomeMapKind::custom};
  options.sparse = sparse;
  if (!sparse) options.keys = 60;
  options.home_function = std::move(home);
  return options;
}

}  // namespace

TEST_CASE("A custom home map gives ranks, whose domains are the homes") {
  Network network;
  const auto by_rank = [](Key key) { return static_cast<std::int32_t>(key.value() % 6); };
  for (const bool sparse : {false, true}) {
    for (const std::int32_t max_ranks : {1, 2, DomainMap::kNoLimit}) {
      const DomainMap domains = DomainMap::of_hosts(kFactoryHosts, max_ranks);
      std::uint64_t own_keys = 0;
      for (std::int32_t rank = 0; rank < 6; ++rank) {
        const HomeMap homes = network.home_map(custom(sparse, by_rank), domains, rank);
        CHECK(homes.self() == domains.domain_of(Rank(rank)));
        for (std::uint64_t key = 0; key < 60; ++key) {
          REQUIRE(homes.home(Key(key)) == domains.domain_of(Rank(by_rank(Key(key)))));
        }
        if (domains.position(Rank(rank)) == 0) own_keys += homes.own_keys();
      }
      CHECK(own_keys == (sparse ? 0 : 60));
    }
  }
}

TEST_CASE("A custom home map that gives no rank is refused with the ranks there are, not the domains") {
  Network network;
  const DomainMap domains = DomainMap::of_hosts(kFactoryHosts);
  REQUIRE(domains.domains() == 3);
  for (const std::int32_t wrong : {-1, 6}) {
    const auto home = [wrong](Key key) { return key == Key(41) ? wrong : 5; };
    const auto make = [&] { network.home_map(custom(false, home), domains, 0); };
    const std::string text = thrown_text<ConfigurationError>(make);
    CHECK(contains(text, "table 'homes'"));
    CHECK(contains(text, "rank " + std::to_string(wrong) + " for key 41: expected 0 to 5"));
    const HomeMap sparse = network.home_map(custom(true, home), domains, 0);
    CHECK(sparse.home(Key(40)) == Domain(2));
    CHECK_THROWS_AS(sparse.home(Key(41)), ConfigurationError);
  }
}

TEST_CASE("What a table takes of its domain's memory is the same on all members") {
  Network network;
  const DomainMap domains = DomainMap::of_hosts(kFactoryHosts);
  TableOptions options{.name = "lengths", .keys = 1000};
  options.lengths = [](Key key) { return 1 + key.value() % 30; };
  const auto request = [&](std::int32_t rank) {
    const TableFactory factory(network.regions, network.network.endpoint(Rank(rank)));
    const auto plan = factory.plan(options, ElementType::float32, true, {});
    return factory.request(plan, factory.home_map(options, domains), domains);
  };
  const SharedTableLayout::Request first = request(0);
  for (const std::int32_t rank : {2, 4}) {
    const SharedTableLayout::Request other = request(rank);
    CHECK(other.keys == 1000);
    CHECK(other.home_keys == first.home_keys);
    CHECK(other.unit_bytes == first.unit_bytes);
    CHECK(other.units == first.units);
  }
  // All units of all keys, because the domain may come to own them all.
  std::uint64_t units = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) units += ((1 + key % 30) * 4 + 15) / 16;
  CHECK(first.units.size() == 3);
  CHECK(first.units[0] + first.units[1] + first.units[2] == units);
  CHECK(request(5).units == std::vector<std::uint64_t>{units});
}
