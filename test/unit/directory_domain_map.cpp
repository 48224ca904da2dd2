#include "lapse/directory/domain_map.hpp"

#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::DomainMap;
using lapse::Key;
using lapse::Rank;

namespace {

std::vector<Rank> members(const DomainMap& map, std::int32_t domain) {
  const auto all = map.members(Domain(domain));
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("Domains of one host are runs of consecutive ranks; the last may be smaller") {
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::int32_t each = 1; each <= 4; ++each) {
      const std::vector<std::int32_t> hosts(ranks, 7);
      const DomainMap map = DomainMap::of_hosts(hosts, each);
      CHECK(map.ranks() == static_cast<std::int32_t>(ranks));
      std::int32_t total = 0;
      for (std::int32_t domain = 0; domain < map.domains(); ++domain) {
        const std::vector<Rank> all = members(map, domain);
        CHECK((domain + 1 == map.domains() || all.size() == static_cast<std::size_t>(each)));
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(all.size()); ++i) {
          CHECK(all[static_cast<std::size_t>(i)] == Rank(total + i));
          CHECK(map.domain_of(Rank(total + i)) == Domain(domain));
          CHECK(map.position(Rank(total + i)) == i);
        }
        total += static_cast<std::int32_t>(all.size());
      }
      CHECK(total == map.ranks());
      CHECK(map.each_rank_alone() == (each == 1 || ranks == 1));
    }
  }
}

TEST_CASE("Ranks of different hosts are never in one domain, however they are spread") {
  const std::vector<std::int32_t> hosts{5, 2, 5, 5, 2, 9};
  const DomainMap by_host = DomainMap::of_hosts(hosts);
  REQUIRE(by_host.domains() == 3);
  CHECK(members(by_host, 0) == std::vector<Rank>{Rank(0), Rank(2), Rank(3)});
  CHECK(members(by_host, 1) == std::vector<Rank>{Rank(1), Rank(4)});
  CHECK(members(by_host, 2) == std::vector<Rank>{Rank(5)});
  CHECK(by_host.position(Rank(3)) == 2);
  const DomainMap by_two = DomainMap::of_hosts(hosts, 2);
  REQUIRE(by_two.domains() == 4);
  CHECK(members(by_two, 0) == std::vector<Rank>{Rank(0), Rank(2)});
  CHECK(members(by_two, 1) == std::vector<Rank>{Rank(1), Rank(4)});
  CHECK(members(by_two, 2) == std::vector<Rank>{Rank(3)});
}

TEST_CASE("A key is served by a rank of the domain, all ranks serve about as many keys") {
  const std::vector<std::int32_t> hosts{0, 0, 0, 1, 1, 1, 1, 1};
  const DomainMap map = DomainMap::of_hosts(hosts);
  for (std::int32_t domain = 0; domain < map.domains(); ++domain) {
    const std::size_t size = members(map, domain).size();
    std::vector<int> counts(size);
    for (std::uint64_t key = 0; key < 6000; ++key) {
      const Rank rank = map.serving_rank(Key(key), Domain(domain));
      REQUIRE(map.domain_of(rank) == Domain(domain));
      ++counts[static_cast<std::size_t>(map.position(rank))];
    }
    for (const int count : counts) {
      CHECK(count > 6000 / static_cast<int>(size) * 9 / 10);
      CHECK(count < 6000 / static_cast<int>(size) * 11 / 10);
    }
  }
}

TEST_CASE("Equal domains talk slice to slice: the serving rank has the same position in all domains") {
  const std::vector<std::int32_t> hosts{0, 1, 0, 1, 0, 1, 0, 1};
  const DomainMap map = DomainMap::of_hosts(hosts);
  for (std::uint64_t key = 0; key < 100; ++key) {
    CHECK(map.serving_rank(Key(key), Domain(1)).value() == map.serving_rank(Key(key), Domain(0)).value() + 1);
  }
}

TEST_CASE("With one rank in each domain that rank serves every key") {
  const DomainMap map = DomainMap::of_ranks(5);
  CHECK(map.domains() == 5);
  CHECK(map.each_rank_alone());
  CHECK(map.serving_rank(Key(12345), Domain(3)) == Rank(3));
}

TEST_CASE("Numbers that are not positive are refused") {
  CHECK_THROWS_AS(DomainMap::of_ranks(0), lapse::ConfigurationError);
  CHECK_THROWS_AS(DomainMap::of_ranks(-1), lapse::ConfigurationError);
  CHECK_THROWS_AS(DomainMap::of_hosts(std::vector<std::int32_t>{}, 1), lapse::ConfigurationError);
  CHECK_THROWS_AS(DomainMap::of_hosts(std::vector<std::int32_t>{0}, 0), lapse::ConfigurationError);
}
