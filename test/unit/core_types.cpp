// The distinct integer types.
#include "lapse/core/types.hpp"

#include <cstring>
#include <type_traits>
#include <unordered_set>

#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::Key;
using lapse::Rank;

namespace {
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
};
}  // namespace

TEST_CASE("distinct types do not mix") {
  STATIC_REQUIRE_FALSE(std::is_convertible_v<std::uint64_t, Key>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<Key, std::uint64_t>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Rank, Domain>);
  STATIC_REQUIRE_FALSE(Comparable<Rank, Domain>);
  STATIC_REQUIRE(Comparable<Rank, Rank>);
}

TEST_CASE("distinct types can be sent as bytes") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<Key>);
  STATIC_REQUIRE(sizeof(Key) == 8);
  STATIC_REQUIRE(sizeof(Rank) == 4);
  const Key key{0x0123456789abcdef};
  std::uint64_t number = 0;
  std::memcpy(&number, &key, sizeof number);
  CHECK(number == key.value());
}

TEST_CASE("distinct types are ordered and hashable") {
  CHECK(Key{1} < Key{2});
  CHECK(Key{2} == Key{2});
  CHECK(Rank{} == Rank{0});
  const std::unordered_set<Key> keys{Key{1}, Key{2}, Key{1}};
  CHECK(keys.size() == 2);
  CHECK(Key{7}.index() == 7U);
}
