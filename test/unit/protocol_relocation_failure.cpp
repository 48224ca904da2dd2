// A key whose ownership cannot be transferred, because code of the application throws in the middle.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/table_shard_builder.hpp"
#include "test/unit/protocol_outbox_packets.hpp"

using namespace lapse;
using lapse::test::delivered;

namespace {

// Rank 0 of two, with a sparse table whose function of lengths throws at its n-th call.
class FailingRank {
 public:
  FailingRank() : domains_(DomainMap::of_ranks(2)), protocol_(network.endpoint(Rank(0)), router_) {
    HomeMap homes = HomeMap::sparse_hash(2, Domain(0));
    key_ = Key(0);
    while (homes.home(key_) != Domain(0)) key_ = Key(key_.value() + 1);
    const auto length = [this](Key) -> std::size_t {
      if (calls_left > 0 && --calls_left == 0) throw std::runtime_error("no length");
      return 3;
    };
    const ValueLayout layout{ElementType::int32, 1, 0};
    protocol_.registry()
        .add(test::build_table_shard({}, domains_, Rank(0), std::move(homes), true, 100,
                                     ValueSizes::computed(layout, length), regions_))
        .create(key_);
  }

  // Rank 1 requests the key: one turn of the engine.
  void localize() {
    FrameHeader header;
    header.kind = static_cast<std::uint16_t>(FrameKind::localize);
    header.domain = 1;
    header.count = 1;
    header.record_bytes = sizeof(LocalizeRecord);
    const LocalizeRecord record{key_.value()};
    std::vector<std::byte> packet(sizeof header + sizeof record);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &record, sizeof record);
    protocol_.handle_packet(Rank(1), packet);
  }
  void end_turn() { protocol_.end_turn(); }
  bool has_key() { return protocol_.registry().tables().front()->store().word(key_).role() == Role::owner; }

  LoopbackNetwork network{2, false};
  int calls_left = 0;  // 0: no throw

 private:
  Key key_;
  DomainMap domains_;
  Router router_;
  PrivateRegionAllocator regions_;
  RankProtocol protocol_;
};

}  // namespace

TEST_CASE("A TRANSFER is sent when the key has left, and only then") {
  int failures = 0;
  int kept = 0;
  for (bool done = false; !done;) {
    FailingRank rank;
    rank.calls_left = failures + 1;
    try {
      rank.localize();
      done = true;
    } catch (const std::runtime_error&) {
      ++failures;
    }
    rank.end_turn();
    INFO("the function throws when it is asked for the " << failures << ". time");
    CHECK(delivered(rank.network, Rank(1)).size() == (rank.has_key() ? 0 : 1));
    kept += !done && rank.has_key();
  }
  CHECK(kept >= 2);  // Before the TRANSFER was begun, and after.
}
