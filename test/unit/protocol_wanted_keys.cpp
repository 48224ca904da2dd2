#include "lapse/protocol/table/wanted_keys.hpp"

#include <algorithm>
#include <map>

#include "test/support/catch.hpp"

using namespace lapse;

namespace {

std::vector<Key> numbered(std::initializer_list<std::uint64_t> numbers) {
  std::vector<Key> keys;
  for (const std::uint64_t number : numbers) keys.emplace_back(number);
  return keys;
}

}  // namespace

TEST_CASE("Only the first want and the last unwant of a key are reported") {
  WantedKeys wanted;
  std::vector<Key> on;
  std::vector<Key> off;
  wanted.want(numbered({7, 3, 7}), on);
  CHECK(on == numbered({7, 3}));
  wanted.want(numbered({3}), on);
  CHECK(on.size() == 2);
  CHECK(wanted.count(Key(7)) == 2);
  wanted.unwant(numbered({7, 3, 7}), off);
  CHECK(off == numbered({7}));
  CHECK(wanted.count(Key(7)) == 0);
  CHECK(wanted.size() == 1);
  wanted.unwant(numbered({3, 12}), off);
  CHECK(off == numbered({7, 3}));
  CHECK(wanted.size() == 0);
}

TEST_CASE("Counts are right while the table grows and shrinks") {
  RandomEngine random(3);
  WantedKeys wanted;
  std::map<std::uint64_t, std::uint32_t> expected;
  std::vector<Key> held;
  for (int step = 0; step < 4000; ++step) {
    // Grows to thousands of keys, shrinks to few, and so on; adjacent entries in the array are frequent.
    const bool grows = step / 500 % 2 == 0;
    std::vector<Key> keys;
    std::vector<Key> changed;
    std::vector<Key> expected_changed;
    const std::uint64_t count = random.below(40);
    if (random.below(10) < (grows ? 8U : 2U)) {
      for (std::uint64_t i = 0; i < count; ++i) {
        keys.emplace_back(random.below(2) == 0 ? random.below(5000) : random());
        if (++expected[keys.back().value()] == 1) expected_changed.push_back(keys.back());
        held.push_back(keys.back());
      }
      wanted.want(keys, changed);
    } else {
      for (std::uint64_t i = 0; i < count && !held.empty(); ++i) {
        std::swap(held[random.below(held.size())], held.back());
        keys.push_back(held.back());
        held.pop_back();
        if (--expected[keys.back().value()] != 0) continue;
        expected.erase(keys.back().value());
        expected_changed.push_back(keys.back());
      }
      wanted.unwant(keys, changed);
    }
    REQUIRE(changed == expected_changed);
    REQUIRE(wanted.size() == expected.size());
    for (const Key key : keys) {
      const auto found = expected.find(key.value());
      REQUIRE(wanted.count(key) == (found == expected.end() ? 0 : found->second));
    }
  }
  for (const auto& [key, count] : expected) REQUIRE(wanted.count(Key(key)) == count);
  std::vector<Key> off;
  wanted.unwant(held, off);
  CHECK(wanted.size() == 0);
  for (int i = 0; i < 2000; ++i) wanted.unwant({}, off);
  CHECK(off.size() == expected.size());
}

TEST_CASE("A key that wants its entry in a full neighbourhood is found behind the end of the array") {
  // All keys with one position, and with the last positions of the smallest array.
  std::vector<Key> keys;
  for (std::uint64_t key = 0; keys.size() < 20; ++key) {
    if ((mix_bits(key) & 63U) >= 60) keys.emplace_back(key);
  }
  WantedKeys wanted;
  std::vector<Key> changed;
  wanted.want(keys, changed);
  for (const Key key : keys) CHECK(wanted.count(key) == 1);
  for (std::size_t i = 0; i < keys.size(); i += 2) wanted.unwant(std::span(keys).subspan(i, 1), changed);
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK(wanted.count(keys[i]) == i % 2);
}
