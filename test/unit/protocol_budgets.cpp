// Grants of changes: what workers and homes say to each other.
#include "lapse/protocol/levels/budgets.hpp"

#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

namespace {

// Their home is rank 0.
constexpr Key kGrantedKey(1);
constexpr Key kOtherGrantedKey(2);

class GrantingRanks : public test::WaitingRanks {
 public:
  GrantRequest& request(std::size_t rank) { return worker(rank).grant_request(); }
  void ask(std::size_t rank, std::vector<GrantRequest::Item> items) {
    request(rank).begin(table(rank), 2, std::move(items));
    say(rank);
  }
  void written(std::size_t rank, std::uint32_t item) {
    request(rank).written(item, 0);
    say(rank);
  }
  void abandon(std::size_t rank) {
    request(rank).abandon();
    say(rank);
  }
  bool is_idle() {
    progress_role.assert_held();
    bool idle = true;
    for (std::size_t rank = 0; rank < 3; ++rank)
      idle = idle && protocol(rank).budgets().idle(IdleLevel::answered) && request(rank).is_idle();
    return idle;
  }

 private:
  void say(std::size_t rank) {
    progress_role.assert_held();
    if (request(rank).raise()) protocol(rank).budgets().handle_submission(request(rank));
    protocol(rank).end_turn();
    deliver_all();
  }
};

}  // namespace

TEST_CASE("grants: keys are granted by their home, one at a time where the bound is met") {
  GrantingRanks ranks;
  ranks.ask(1, {{kGrantedKey, 1.5}, {kOtherGrantedKey, 1}});
  REQUIRE(ranks.request(1).grants() == 2);
  ranks.ask(2, {{kGrantedKey, 1}, {kOtherGrantedKey, 1}});
  REQUIRE(ranks.request(2).grants() == 1);
  CHECK(ranks.request(2).granted(0) == 1);
  CHECK(ranks.request(2).waits() == 0);
  // A worker of the home itself is in the same queue.
  ranks.ask(0, {{kGrantedKey, 1}});
  CHECK(ranks.request(0).grants() == 0);
  CHECK_FALSE(ranks.is_idle());

  ranks.written(1, 0);
  REQUIRE(ranks.request(2).grants() == 2);
  CHECK(ranks.request(2).granted(1) == 0);
  CHECK(ranks.request(2).waits() == 1);
  CHECK(ranks.request(0).grants() == 1);
  CHECK_FALSE(ranks.request(1).is_idle());
  ranks.written(1, 1);
  CHECK(ranks.request(1).is_idle());
  ranks.written(2, 0);
  ranks.written(2, 1);
  ranks.written(0, 0);
  CHECK(ranks.is_idle());
}

TEST_CASE("grants: what a worker gives up in the queue is released when it is granted") {
  GrantingRanks ranks;
  ranks.ask(1, {{kGrantedKey, 2}});
  ranks.ask(2, {{kGrantedKey, 2}});
  ranks.abandon(2);
  CHECK(ranks.request(2).is_idle());
  ranks.ask(0, {{kGrantedKey, 2}});
  CHECK(ranks.request(0).grants() == 0);
  ranks.written(1, 0);
  CHECK(ranks.request(0).grants() == 1);
  ranks.written(0, 0);
  CHECK(ranks.is_idle());
}

TEST_CASE("grants: a worker that gives up keeps its grants until its operations are answered") {
  progress_role.assert_held();
  GrantingRanks ranks;
  std::vector<std::int64_t> row{1};
  ranks.ask(1, {{kGrantedKey, 2}});
  OperationState& push = ranks.submit(1, OperationKind::push, {kGrantedKey}, &row);
  ranks.request(1).abandon();
  REQUIRE(ranks.request(1).raise());
  ranks.protocol(1).budgets().handle_submission(ranks.request(1));
  ranks.protocol(1).end_turn();
  CHECK_FALSE(ranks.request(1).is_idle());
  ranks.deliver_all();
  ranks.protocol(1).end_turn();
  CHECK(push.done());
  CHECK(ranks.request(1).is_idle());
  // No epoch has shown the change.
  ranks.ask(2, {{kGrantedKey, 1}});
  CHECK(ranks.request(2).grants() == 0);
  ranks.worker(1).release(push);
}

TEST_CASE("grants: messages that no rank sends are refused") {
  progress_role.assert_held();
  GrantingRanks ranks;
  const auto send = [&](FrameKind kind, const auto& record) {
    FrameHeader header = FrameHeader::of(kind);
    header.count = 1;
    header.record_bytes = sizeof record;
    std::vector<std::byte> packet(sizeof header + sizeof record);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &record, sizeof record);
    ranks.protocol(0).handle_packet(Rank(1), packet);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(send(FrameKind::reserve, ReserveRecord{5, 0, 1, 1}), ProtocolError);  // served by rank 1
  CHECK_THROWS_AS(send(FrameKind::reserve, ReserveRecord{99, 0, 1, 1}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::reserve, ReserveRecord{1, 0, nan, 1}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::reserve, ReserveRecord{1, 0, 1, 0}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::reserve, GrantRecord{1, 0}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::grant, GrantRecord{7, 0}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::release, ReleaseRecord{1, 1, 1}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::release, ReleaseRecord{1, 1, 0}), ProtocolError);
  CHECK_THROWS_AS(send(FrameKind::release, ReleaseRecord{1, nan, 1}), ProtocolError);
}
