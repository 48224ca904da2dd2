#include "lapse/directory/domain_map.hpp"

#include <set>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::DomainMap;
using lapse::Key;
using lapse::Rank;

TEST_CASE("Domains are runs of consecutive ranks; the last may be smaller") {
  for (std::int32_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::int32_t each = 1; each <= 4; ++each) {
      const DomainMap map(ranks, each);
      CHECK(map.ranks() == ranks);
      std::int32_t total = 0;
      for (std::int32_t domain = 0; domain < map.domains(); ++domain) {
        const std::int32_t size = map.size(Domain(domain));
        CHECK(size >= 1);
        CHECK((domain + 1 == map.domains() || size == each));
        CHECK(map.first_rank(Domain(domain)).value() == total);
        for (std::int32_t i = 0; i < size; ++i) CHECK(map.domain_of(Rank(total + i)) == Domain(domain));
        total += size;
      }
      CHECK(total == ranks);
    }
  }
}

TEST_CASE("A key is served by a rank of the domain, all ranks serve about as many keys") {
  const DomainMap map(8, 3);
  for (std::int32_t domain = 0; domain < map.domains(); ++domain) {
    const auto size = static_cast<std::size_t>(map.size(Domain(domain)));
    std::vector<int> counts(size);
    for (std::uint64_t key = 0; key < 6000; ++key) {
      const Rank rank = map.serving_rank(Key(key), Domain(domain));
      REQUIRE(map.domain_of(rank) == Domain(domain));
      ++counts[rank.index() - map.first_rank(Domain(domain)).index()];
    }
    for (const int count : counts) {
      CHECK(count > 6000 / static_cast<int>(size) * 9 / 10);
      CHECK(count < 6000 / static_cast<int>(size) * 11 / 10);
    }
  }
}

TEST_CASE("Equal domains talk slice to slice: the place of the serving rank is the same in all of them") {
  const DomainMap map(12, 4);
  for (std::uint64_t key = 0; key < 100; ++key) {
    const std::int32_t place = map.serving_rank(Key(key), Domain(0)).value();
    CHECK(map.serving_rank(Key(key), Domain(1)).value() == place + 4);
    CHECK(map.serving_rank(Key(key), Domain(2)).value() == place + 8);
  }
}

TEST_CASE("With one rank in each domain that rank serves every key") {
  const DomainMap map(5, 1);
  CHECK(map.domains() == 5);
  CHECK(map.serving_rank(Key(12345), Domain(3)) == Rank(3));
}

TEST_CASE("Numbers that are not positive are refused") {
  CHECK_THROWS_AS(DomainMap(0, 1), lapse::ConfigurationError);
  CHECK_THROWS_AS(DomainMap(1, 0), lapse::ConfigurationError);
  CHECK_THROWS_AS(DomainMap(-1, 2), lapse::ConfigurationError);
}
