#include "lapse/directory/home_map.hpp"

#include <set>
#include <vector>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using lapse::ConfigurationError;
using lapse::Domain;
using lapse::HomeMap;
using lapse::HomeMapKind;
using lapse::Key;
using lapse::test::contains;
using lapse::test::thrown_text;

namespace {

HomeMap make(HomeMapKind kind, std::uint64_t keys, std::int32_t domains, Domain self) {
  switch (kind) {
    case HomeMapKind::hash:
      return HomeMap::hash(keys, domains, self);
    case HomeMapKind::range:
      return HomeMap::range(keys, domains, self);
    case HomeMapKind::custom:
      break;
  }
  // Uneven: the last of several domains has no key.
  return HomeMap::custom(keys, domains, self, [domains](Key key) {
    return static_cast<std::int32_t>(key.value() * key.value() %
                                     static_cast<std::uint64_t>(std::max(1, domains - 1)));
  });
}

// Every key has one home, all domains agree on it, and each numbers its keys 0, 1, 2, ... in ascending order.
void check_numbering(HomeMapKind kind, std::uint64_t keys, std::int32_t domains) {
  std::vector<std::int32_t> home_of(keys, -1);
  std::uint64_t total = 0;
  for (std::int32_t domain = 0; domain < domains; ++domain) {
    const HomeMap map = make(kind, keys, domains, Domain(domain));
    REQUIRE(map.kind() == kind);
    REQUIRE(map.self() == Domain(domain));
    std::uint64_t expected_index = 0;
    std::optional<std::uint64_t> last;
    map.for_each_own_key([&](Key key) {
      REQUIRE(key.value() < keys);
      REQUIRE((!last || *last < key.value()));
      last = key.value();
      REQUIRE(map.home(key) == Domain(domain));
      REQUIRE(map.home_index(key) == expected_index);
      // The other domains can compute it, too, unless that would call the user's function for every key.
      const auto at_other_domain =
          make(kind, keys, domains, Domain((domain + 1) % domains)).index_at_home(key);
      REQUIRE(at_other_domain.has_value() == (kind != HomeMapKind::custom));
      REQUIRE(at_other_domain.value_or(expected_index) == expected_index);
      ++expected_index;
      REQUIRE(home_of[key.value()] == -1);
      home_of[key.value()] = domain;
    });
    REQUIRE(expected_index == map.own_keys());
    total += map.own_keys();
  }
  REQUIRE(total == keys);
  for (std::int32_t domain = 0; domain < domains; ++domain) {
    const HomeMap map = make(kind, keys, domains, Domain(domain));
    for (std::uint64_t key = 0; key < keys; ++key) REQUIRE(map.home(Key(key)) == Domain(home_of[key]));
  }
}

}  // namespace

TEST_CASE("Home maps number the keys of every domain without gaps") {
  for (const HomeMapKind kind : {HomeMapKind::hash, HomeMapKind::range, HomeMapKind::custom}) {
    for (std::int32_t domains = 1; domains <= 7; ++domains) {
      const auto d = static_cast<std::uint64_t>(domains);
      std::set<std::uint64_t> counts{1, 2, 3, 40 * d - 1, 40 * d, 40 * d + 1, 101};
      for (std::uint64_t keys = 1; keys <= 2 * d + 1; ++keys) counts.insert(keys);
      for (const std::uint64_t keys : counts) {
        INFO(lapse::home_map_name(kind) << " of " << keys << " keys over " << domains);
        check_numbering(kind, keys, domains);
      }
    }
  }
}

TEST_CASE("The hash map is balanced to one key, also within every run of consecutive keys") {
  for (std::int32_t domains = 1; domains <= 7; ++domains) {
    const auto d = static_cast<std::uint64_t>(domains);
    for (const std::uint64_t keys : {1000 * d - 1, 1000 * d, 1000 * d + 3}) {
      for (std::int32_t domain = 0; domain < domains; ++domain) {
        const std::uint64_t own = HomeMap::hash(keys, domains, Domain(domain)).own_keys();
        CHECK(own >= keys / d);
        CHECK(own <= keys / d + 1);
      }
    }
    const HomeMap map = HomeMap::hash(100 * d, domains, Domain(0));
    for (std::uint64_t group = 0; group < 100; ++group) {
      std::set<std::int32_t> homes;
      for (std::uint64_t i = 0; i < d; ++i) homes.insert(map.home(Key(group * d + i)).value());
      REQUIRE(homes.size() == d);
    }
  }
}

TEST_CASE("The hash map does not send a regular pattern of keys to one domain") {
  constexpr std::int32_t kDomains = 4;
  const HomeMap map = HomeMap::hash(100'000, kDomains, Domain(0));
  for (const std::uint64_t stride : {4U, 8U, 64U}) {
    std::vector<int> counts(kDomains);
    int keys = 0;
    for (std::uint64_t key = 0; key < 100'000; key += stride, ++keys) ++counts[map.home(Key(key)).index()];
    for (const int count : counts) {
      CHECK(count > keys / kDomains * 8 / 10);
      CHECK(count < keys / kDomains * 12 / 10);
    }
  }
}

TEST_CASE("The range map gives blocks of consecutive keys") {
  const HomeMap map = HomeMap::range(10, 4, Domain(3));
  const std::vector<std::int32_t> expected{0, 0, 0, 1, 1, 1, 2, 2, 2, 3};
  for (std::uint64_t key = 0; key < 10; ++key) CHECK(map.home(Key(key)).value() == expected[key]);
  CHECK(map.own_keys() == 1);
  // Fewer blocks than domains: the last domains have none.
  CHECK(HomeMap::range(5, 4, Domain(3)).own_keys() == 0);
  CHECK(HomeMap::range(5, 4, Domain(2)).own_keys() == 1);
}

TEST_CASE("Large tables need no memory for hash and range, and their last key has a home") {
  constexpr std::uint64_t kKeys = (std::uint64_t{1} << 40) - 1;
  const HomeMap hash = HomeMap::hash(kKeys, 7, Domain(3));
  const HomeMap range = HomeMap::range(kKeys, 7, Domain(3));
  CHECK(hash.bytes() == 0);
  CHECK(range.bytes() == 0);
  CHECK(hash.home(Key(kKeys - 1)).value() < 7);
  CHECK(range.home(Key(kKeys - 1)) == Domain(6));
}

TEST_CASE("A custom map without function, or naming a domain that does not exist, is refused") {
  CHECK_THROWS_AS(HomeMap::custom(3, 2, Domain(0), {}), ConfigurationError);
  const std::string high = thrown_text<ConfigurationError>(
      [] { HomeMap::custom(10, 2, Domain(0), [](Key key) { return key.value() == 7 ? 2 : 0; }); });
  CHECK(contains(high, "domain 2"));
  CHECK(contains(high, "key 7"));
  CHECK(contains(high, "0 to 1"));
  CHECK_THROWS_AS(HomeMap::custom(10, 2, Domain(0), [](Key) { return -1; }), ConfigurationError);
}

TEST_CASE("Custom maps that differ for one key have different fingerprints") {
  const auto fingerprint = [](std::uint64_t odd_key, std::int32_t self) {
    return HomeMap::custom(100, 3, Domain(self),
                           [odd_key](Key key) { return key.value() == odd_key ? 2 : 1; })
        .fingerprint();
  };
  std::set<std::uint64_t> all;
  for (std::uint64_t key = 0; key <= 100; ++key) all.insert(fingerprint(key, 0));
  CHECK(all.size() == 101);
  CHECK(fingerprint(5, 0) == fingerprint(5, 2));
  CHECK(HomeMap::hash(100, 3, Domain(0)).fingerprint() == 0);
}

TEST_CASE("Home maps have names") {
  CHECK(lapse::home_map_name(HomeMapKind::hash) == "hash");
  CHECK(lapse::home_map_name(HomeMapKind::range) == "range");
  CHECK(lapse::home_map_name(HomeMapKind::custom) == "custom");
}
