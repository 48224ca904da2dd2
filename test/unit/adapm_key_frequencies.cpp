#include "adapm/intents/key_frequencies.hpp"

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Key;
using lapse::TableId;

using KeyList = std::vector<Key>;

TEST_CASE("Frequent keys exceed the mean by the factor") {
  std::vector<std::uint64_t> counts(1000, 1);
  counts[7] = 200;  // The mean is 1.548: 154.8 is the threshold.
  counts[500] = 154;
  counts[999] = 199;
  CHECK(frequent_keys(counts, 100) == KeyList{Key(7), Key(999)});
  CHECK(frequent_keys(counts, 1e6).empty());
  CHECK(frequent_keys(counts, 0).size() == 1000);
  CHECK(frequent_keys({}, 100).empty());
  // Without accesses, no key is frequent.
  CHECK(frequent_keys(std::vector<std::uint64_t>(10, 0), 0).empty());
}

TEST_CASE("Counts of several ranks choose the keys that the sum of counts does") {
  KeyFrequencies first;
  KeyFrequencies second;
  for (KeyFrequencies* one : {&first, &second}) {
    one->add_table(TableId(0));
    for (std::uint64_t i = 0; i < 30; ++i) one->count(TableId(0), KeyList{Key(5), Key(i)});
    one->count(TableId(1), KeyList{Key(5)});  // not counted
  }
  second.count(TableId(0), KeyList{Key(900)});
  CHECK(first.to_bytes(TableId(1)).empty());
  KeyFrequencies::Counts counts;
  for (const KeyFrequencies* one : {&first, &second})
    KeyFrequencies::add_bytes(one->to_bytes(TableId(0)), counts);
  CHECK(counts.size() == 31);
  CHECK(counts.at(Key(5)) == 62);
  CHECK(counts.at(Key(900)) == 1);
  // 121 accesses of 1000 keys: all accessed keys except key 900 are above 8 times the mean.
  CHECK(KeyFrequencies::frequent(counts, 1000, 10).size() == 30);
  CHECK(KeyFrequencies::frequent(counts, 1000, 100) == KeyList{Key(5)});
  CHECK(KeyFrequencies::frequent(counts, 0, 100).size() == 31);
  CHECK_THROWS_AS(KeyFrequencies::add_bytes("short", counts), lapse::ProtocolError);
  first.remove_table(TableId(0));
  CHECK(first.empty());
}
