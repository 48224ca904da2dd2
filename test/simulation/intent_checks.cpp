// Tests the parts of the random workloads of replicated tables: intents and policies.
#include <algorithm>
#include <map>
#include <vector>

#include "test/support/catch.hpp"
#include "test/support/history_violation.hpp"
#include "test/support/random_intents.hpp"
#include "test/support/random_policy.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

// Counts the wants of one table.
class CountingSink final : public WantSink {
 public:
  void want(TableId, std::span<const Key> keys) override { count(keys, 1); }
  void unwant(TableId, std::span<const Key> keys) override { count(keys, -1); }

  std::map<std::uint64_t, int> wanted;
  std::size_t calls = 0;

 private:
  void count(std::span<const Key> keys, int change) {
    ++calls;
    std::vector<Key> sorted(keys.begin(), keys.end());
    std::ranges::sort(sorted, {}, &Key::value);
    CHECK(std::ranges::adjacent_find(sorted) == sorted.end());
    for (const Key key : keys) CHECK((wanted[key.value()] += change) >= 0);
  }
};

class IntentTable final : public TableClient {
 public:
  std::uint64_t keys() const override { return 4; }
  TableId table() const override { return TableId(0); }
  Key name(Key key) const override { return Key(10 * key.value()); }
  std::unique_ptr<PendingCall> call(Call, std::span<const Key>) override { return nullptr; }
  LeaseKeys lease_keys(std::span<const Key>) override { throw HistoryViolation("no lease was to be taken"); }
  void touch(const Lease&, std::size_t) override {}
};

}  // namespace

TEST_CASE("random intents reach the round in their order, and end") {
  progress_role.assert_held();
  RandomIntents intents;
  IntentPlay play(intents, false);
  const IntentTable table;
  RandomEngine random(1, 1);
  CountingSink sink;
  play.begin(table, std::vector<Key>{Key(1), Key(2), Key(1)}, 3);
  play.begin(table, std::vector<Key>{Key(1)}, 9);
  CHECK(intents.wanted(TableId(0), Key(10)));
  intents.begin_round(sink);
  CHECK(sink.wanted == std::map<std::uint64_t, int>{{10, 3}, {20, 1}});
  CHECK_FALSE(intents.pending());
  play.end_due(2);
  CHECK_FALSE(intents.pending());
  play.end_due(3);
  CHECK(play.active());
  play.begin(table, std::vector<Key>{Key(2)}, 9);
  intents.begin_round(sink);
  CHECK(sink.wanted == std::map<std::uint64_t, int>{{10, 1}, {20, 1}});
  play.end_all(random);
  CHECK_FALSE(play.active());
  CHECK_FALSE(intents.wanted(TableId(0), Key(10)));
  intents.begin_round(sink);
  CHECK(sink.wanted == std::map<std::uint64_t, int>{{10, 0}, {20, 0}});
  CHECK(sink.calls == 7);
}

TEST_CASE("random intents that stay on are wanted to the end") {
  RandomIntents intents;
  IntentPlay play(intents, true);
  const IntentTable table;
  RandomEngine random(1, 1);
  for (int i = 0; i < 20; ++i) play.begin(table, std::vector<Key>{Key(static_cast<std::uint64_t>(i))}, 1);
  play.end_all(random);
  CHECK_FALSE(play.active());
  int left = 0;
  for (std::uint64_t key = 0; key < 20; ++key) left += intents.wanted(TableId(0), Key(10 * key)) ? 1 : 0;
  CHECK(left > 0);
  CHECK(left < 20);
}

TEST_CASE("random policies keep to what their technique may answer") {
  using Wanted = ManagementPolicy::Wanted;
  using Decision = ManagementPolicy::Decision;
  const auto answers = [](Technique technique, std::uint32_t table) {
    const RandomPolicy policy(technique, {true, false}, 1);
    std::map<Wanted, int> counts;
    for (std::uint64_t key = 0; key < 200; ++key) ++counts[policy.wanted(TableId(table), Key(key), false)];
    return counts;
  };
  CHECK(answers(Technique::adaptive, 0) == std::map<Wanted, int>{{Wanted::announce, 200}});
  CHECK(answers(Technique::replicate, 0) == std::map<Wanted, int>{{Wanted::announce, 200}});
  CHECK(answers(Technique::relocate, 0) == std::map<Wanted, int>{{Wanted::localize, 200}});
  CHECK(answers(Technique::adversarial, 0).size() == 3);
  // A table that cannot be replicated is never announced.
  CHECK(answers(Technique::replicate, 1) == std::map<Wanted, int>{{Wanted::localize, 200}});
  CHECK(answers(Technique::adversarial, 1).size() == 2);
  CHECK_FALSE(answers(Technique::adversarial, 1).contains(Wanted::announce));
  const auto decision = [](Technique technique) {
    return RandomPolicy(technique, {true}, 1).decide(TableId(0), Key(0));
  };
  CHECK(decision(Technique::adaptive) == Decision::offer);
  CHECK(decision(Technique::replicate) == Decision::serve);
}
