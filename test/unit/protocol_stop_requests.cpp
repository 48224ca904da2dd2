#include "lapse/protocol/stop_requests.hpp"

#include "lapse/protocol/worker_endpoint.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

namespace {

using Time = ProtocolModule::Clock::time_point;

// Ranks of which one has requested a stop.
class StoppingRanks : public test::WaitingRanks {
 public:
  StoppingRanks() LAPSE_REQUIRES(progress_role) {
    Submission request;
    requests(0).handle_submission(request);
    protocol(0).end_turn();
    deliver_all();
  }
  StopRequests& requests(std::size_t rank) { return protocol(rank).stop_requests(); }
  // When the rank's deadline comes: its sign reaches the others. Returns whether they have learned of work.
  bool sign(std::size_t rank) LAPSE_REQUIRES(progress_role) {
    const Time before = requests(2).last_work();
    requests(rank).handle_deadline(*requests(rank).next_deadline());
    protocol(rank).end_turn();
    deliver_all();
    return requests(2).last_work() > before;
  }
};

}  // namespace

TEST_CASE("a request to stop reaches every rank, which watches for work from then on") {
  progress_role.assert_held();
  test::WaitingRanks without;
  CHECK_FALSE(without.protocol(0).stop_requests().next_deadline());
  StoppingRanks ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(ranks.requests(rank).requested());
    CHECK(ranks.requests(rank).next_deadline());
  }
}

TEST_CASE("ranks learn that workers of another one work") {
  progress_role.assert_held();
  StoppingRanks ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) ranks.worker(rank).set_activity(WorkerActivity::operations);
  CHECK(ranks.sign(1));  // It has begun to wait.
  CHECK_FALSE(ranks.sign(1));
  ranks.worker(1).set_activity(WorkerActivity::application);
  CHECK(ranks.sign(1));  // It computes.
  CHECK(ranks.sign(1));
  ranks.worker(1).set_activity(WorkerActivity::collective);
  ranks.worker(1).set_activity(WorkerActivity::application);
  ranks.worker(1).set_activity(WorkerActivity::collective);
  CHECK(ranks.sign(1));  // It waits for something else.
  CHECK_FALSE(ranks.sign(1));
}

TEST_CASE("ranks learn that values come to one whose workers wait, or have returned") {
  progress_role.assert_held();
  StoppingRanks ranks;
  for (std::size_t rank = 0; rank < 3; ++rank) ranks.worker(rank).set_activity(WorkerActivity::operations);
  CHECK(ranks.sign(1));
  CHECK_FALSE(ranks.sign(1));
  std::vector<std::int64_t> row{1};
  OperationState& answered = ranks.submit(1, OperationKind::pull, {Key(0)}, &row);
  ranks.deliver_all();
  REQUIRE(answered.done());
  CHECK(ranks.sign(1));
  CHECK_FALSE(ranks.sign(1));
  ranks.worker(1).set_activity(WorkerActivity::returned);
  CHECK_FALSE(ranks.sign(1));
  // Two keys come, of which one is still on its way.
  OperationState& first = ranks.submit(1, OperationKind::localize, {Key(0)});
  ranks.deliver_all();
  REQUIRE(first.done());
  ranks.submit(1, OperationKind::localize, {Key(1)});
  CHECK_FALSE(ranks.protocol(1).idle(IdleLevel::synced));
  CHECK(ranks.sign(1));
  CHECK(ranks.protocol(1).idle(IdleLevel::synced));
  CHECK_FALSE(ranks.sign(1));
  ranks.submit(1, OperationKind::pull, {Key(2)}, &row);
  ranks.deliver_all();
  CHECK_FALSE(ranks.sign(1));  // It is idle, as at the end of the phase.
}

TEST_CASE("a rank whose workers have returned sends no signs of work") {
  progress_role.assert_held();
  StoppingRanks ranks;
  ranks.worker(1).set_activity(WorkerActivity::returned);
  CHECK_FALSE(ranks.sign(1));
  CHECK(ranks.sign(0));
}
