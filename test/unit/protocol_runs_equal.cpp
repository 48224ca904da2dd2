// What many keys do in runs equals what they do one after the other.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/table/table_copies.hpp"
#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;

namespace {

constexpr std::size_t kEqualRanks = 3;
constexpr std::uint64_t kEqualKeys = 300;

// A step of a history: what one rank does with some keys.
struct Step {
  enum class Kind : std::uint8_t { localize, want, unwant, push, lease, release };

  Kind kind;
  std::size_t rank;
  std::vector<Key> keys;
};

// What is known of a key when nothing is in flight.
struct Seen {
  Role role;
  bool leased;
  bool wanted;
  std::int64_t value;  // 0 where there is none
  Domain owner;        // at the home alone

  bool operator==(const Seen&) const = default;
};

std::vector<Seen> see(ReplicatingRanks& ranks) {
  progress_role.assert_held();  // One thread does everything.
  std::vector<Seen> seen;
  for (std::size_t rank = 0; rank < kEqualRanks; ++rank) {
    TableShard& table = ranks.table(rank);
    for (std::uint64_t number = 0; number < kEqualKeys; ++number) {
      const Key key(number);
      const SlotWord word = table.store().word(key);
      const bool readable = has_usable_value(word.role()) && !word.leased();
      seen.push_back({.role = word.role(),
                      .leased = word.leased(),
                      .wanted = table.wanted().count(key) > 0,
                      .value = readable ? ranks.value(rank, key) : 0,
                      .owner = rank == 0 ? table.owner_by_table(key) : Domain(0)});
    }
  }
  return seen;
}

void take(ReplicatingRanks& ranks, const Step& step, std::span<const Key> keys) {
  switch (step.kind) {
    case Step::Kind::localize:
      return ranks.localize(step.rank, keys);
    case Step::Kind::want:
      ranks.want(step.rank, keys);
      return ranks.round(step.rank);
    case Step::Kind::unwant:
      ranks.unwant(step.rank, keys);
      return ranks.round(step.rank);
    case Step::Kind::push:
      for (const Key key : keys)
        static_cast<void>(ranks.push(step.rank, key, static_cast<std::int64_t>(key.value()) + 1));
      return ranks.round(step.rank);
    case Step::Kind::lease:
      for (const Key key : keys) static_cast<void>(ranks.lease(step.rank, key));
      return;
    case Step::Kind::release:
      for (const Key key : keys)
        if (ranks.table(step.rank).store().word(key).leased()) ranks.release(step.rank, key);
      return;
  }
}

// Until nothing is in flight and every change has been sent.
void settle(ReplicatingRanks& ranks) {
  for (int round = 0; round < 4; ++round) {
    ranks.deliver_all();
    for (std::size_t rank = 0; rank < kEqualRanks; ++rank) ranks.round(rank);
  }
  ranks.deliver_all();
}

Step draw(RandomEngine& random, std::vector<std::uint8_t>& wanted) {
  using Kind = Step::Kind;
  constexpr std::array kKinds{Kind::localize, Kind::want, Kind::want,  Kind::want,   Kind::want,
                              Kind::unwant,   Kind::push, Kind::lease, Kind::release};
  Step step{.kind = kKinds[random.below(kKinds.size())], .rank = random.below(kEqualRanks), .keys = {}};
  // Some keys at once and in order, as runs have them, or a few anywhere.
  const std::uint64_t count = random.below(2) == 0 ? 1 + random.below(kEqualKeys) : 1 + random.below(20);
  const std::uint64_t first = random.below(kEqualKeys);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t number = (first + i * (1 + count % 3)) % kEqualKeys;
    std::uint8_t& is_wanted = wanted[step.rank * kEqualKeys + number];
    const bool is_fit = step.kind == Step::Kind::want     ? is_wanted == 0
                        : step.kind == Step::Kind::unwant ? is_wanted == 1
                                                          : true;
    if (!is_fit || std::ranges::find(step.keys, Key(number)) != step.keys.end()) continue;
    if (step.kind == Step::Kind::want) is_wanted = 1;
    if (step.kind == Step::Kind::unwant) is_wanted = 0;
    step.keys.emplace_back(number);
  }
  return step;
}

}  // namespace

TEST_CASE("Keys that are localized, wanted and pushed to in runs end as those that are so one by one") {
  std::uint64_t moved = 0;
  std::uint64_t replicas = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RandomEngine random(seed, 1);
    ReplicatingRanks runs(kEqualRanks, kEqualKeys, 0);
    ReplicatingRanks plain(kEqualRanks, kEqualKeys, 0);
    std::vector<std::uint8_t> wanted(kEqualRanks * kEqualKeys);
    for (int number = 0; number < 25; ++number) {
      const Step step = draw(random, wanted);
      if (step.keys.empty()) continue;
      INFO("seed " << seed << ", step " << number << ", kind " << static_cast<int>(step.kind) << ", rank "
                   << step.rank << ", " << step.keys.size() << " keys");
      take(runs, step, step.keys);
      settle(runs);
      for (const Key& key : step.keys) {
        take(plain, step, std::span(&key, 1));
        plain.deliver_all();
      }
      settle(plain);
      const std::vector<Seen> of_runs = see(runs);
      const std::vector<Seen> of_plain = see(plain);
      for (std::size_t i = 0; i < of_runs.size(); ++i) {
        if (of_runs[i] == of_plain[i]) continue;
        FAIL("rank " << i / kEqualKeys << ", key " << i % kEqualKeys << ": " << role_name(of_runs[i].role)
                     << " with " << of_runs[i].value << " in runs, " << role_name(of_plain[i].role)
                     << " with " << of_plain[i].value << " one by one");
      }
      for (std::size_t rank = 0; rank < kEqualRanks; ++rank) {
        const TableCounters& one = runs.table(rank).counters();
        const TableCounters& other = plain.table(rank).counters();
        CHECK(std::tuple(one.relocations_in, one.relocations_out, one.copies_in, one.copies_out) ==
              std::tuple(other.relocations_in, other.relocations_out, other.copies_in, other.copies_out));
      }
    }
    for (std::size_t rank = 0; rank < kEqualRanks; ++rank) {
      moved += runs.table(rank).counters().relocations_in;
      replicas += runs.table(rank).counters().copies_in;
    }
  }
  CHECK(moved > 1000);
  CHECK(replicas > 1000);
}
