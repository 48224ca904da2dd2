// The events that an observer of a key receives: every change of its role, wants, rounds.
#include "lapse/protocol/table/key_observer.hpp"

#include <string>
#include <vector>

#include "lapse/core/role_table.hpp"
#include "lapse/store/words/role_watch.hpp"
#include "test/support/catch.hpp"
#include "test/unit/replicating_ranks.hpp"

using namespace lapse;
using lapse::test::ReplicatingRanks;

namespace {

constexpr Key kKey(3);

class RoleRecorder final : public RoleWatch, public KeyObserver {
 public:
  void changed(Key key, Role before, Role after) noexcept override {
    CHECK(key == kKey);
    events.push_back(std::string(role_name(before)) + " " + std::string(role_name(after)));
  }
  void wanted(TableId table, std::span<const Key> keys, bool on) override {
    CHECK(table == TableId(0));
    for (const Key key : keys)
      if (key == kKey) events.emplace_back(on ? "want" : "unwant");
  }
  void round_ended() override { ++rounds; }
  void accessed(const TableShard&, std::span<const Key>, Store::Reach, AccessKind) override {}

  std::vector<std::string> take() { return std::exchange(events, {}); }
  std::vector<std::string> events;
  int rounds = 0;
};

using Events = std::vector<std::string>;

}  // namespace

TEST_CASE("An observer sees wants, and each change of a key's role on its rank") {
  progress_role.assert_held();  // One thread does everything.
  ReplicatingRanks ranks(3, 8, 8);
  std::vector<RoleRecorder> seen(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    ranks.table(rank).store().set_role_watch(&seen[rank]);
    ranks.protocol(rank).replication().set_observer(&seen[rank]);
  }
  const auto change = [&](std::size_t rank, bool on) {
    if (on) {
      ranks.want(rank, std::span(&kKey, 1));
    } else {
      ranks.unwant(rank, std::span(&kKey, 1));
    }
    ranks.round(rank);
    ranks.deliver_all();
  };
  change(1, true);  // moves to the only domain that wants it
  CHECK(seen[0].take() == Events{"owner absent"});
  CHECK(seen[1].take() ==
        Events{"want", "absent awaiting", "awaiting absent", "absent arriving", "arriving owner"});
  change(2, true);  // a replica is made
  CHECK(seen[2].take() == Events{"want", "absent awaiting", "awaiting replica"});
  change(1, false);  // the replica becomes the main copy
  CHECK(seen[1].take() == Events{"unwant", "owner absent"});
  CHECK(seen[2].take() == Events{"replica upgrading", "upgrading arriving", "arriving owner"});
  change(0, true);
  CHECK(seen[0].take() == Events{"want", "absent awaiting", "awaiting replica"});
  change(0, false);
  CHECK(seen[0].take() == Events{"unwant", "replica closing", "closing absent"});
  CHECK(seen[2].take().empty());
  CHECK(seen[0].rounds == 2);
  CHECK(seen[1].rounds == 2);
  CHECK(seen[2].rounds == 1);
}
