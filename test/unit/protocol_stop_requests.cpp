#include "lapse/protocol/group/stop_requests.hpp"

#include <cstdint>
#include <set>
#include <string_view>

#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

namespace {

using Time = ProtocolModule::Clock::time_point;

// Ranks, one of which has requested a stop.
class StoppingRanks : public test::WaitingRanks {
 public:
  StoppingRanks() LAPSE_REQUIRES(progress_role) {
    Submission request;
    requests(0).handle_submission(request);
    protocol(0).end_turn();
    deliver_all();
  }
  StopRequests& requests(std::size_t rank) { return protocol(rank).stop_requests(); }
  // Handles the rank's deadline: its sign reaches the others. Returns whether they have learned of work.
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
  // Two keys are requested. One has arrived, the other is in flight.
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
  CHECK_FALSE(ranks.sign(1));  // It is idle, like at the end of the phase.
}

TEST_CASE(
    "ranks learn that a rank is asked for keys, or hears that it does not get them, while its workers wait") {
  progress_role.assert_held();
  StoppingRanks ranks;
  const auto signs = [&](bool of_0, bool of_1) LAPSE_REQUIRES(progress_role) {
    CHECK(ranks.sign(0) == of_0);
    CHECK(ranks.sign(1) == of_1);
  };
  for (std::size_t rank = 0; rank < 3; ++rank) ranks.worker(rank).set_activity(WorkerActivity::operations);
  signs(true, true);
  signs(false, false);
  // Only the key's home receives a message, the localize.
  ranks.submit(1, OperationKind::localize, {Key(0)});
  ranks.deliver_all();
  signs(true, true);
  // Then the home forwards it to the owner.
  ranks.submit(2, OperationKind::localize, {Key(0)});
  ranks.deliver_all();
  signs(true, true);
  signs(false, false);
}

TEST_CASE("what management, questions and collective calls send is no sign of work, all else is") {
  progress_role.assert_held();
  StoppingRanks ranks;
  const std::set<std::string_view> others{
      "workers_up", "workers_down", "wave_up",        "wave_down",
      "poison",     "key_inquiry",  "worker_inquiry", "key_inquiry_answer",
      "on",         "offer",        "refuse_copy",    "worker_inquiry_answer",
      "want",       "unwant",       "sync_for",       "sync_for_answer",
      "sync",       "sync_answer",  "stop_request",   "credit"};
  const FrameTable& frames = ranks.protocol(0).frames();
  for (std::size_t kind = 1; kind < kFrameKinds; ++kind) {
    INFO(frame_name(kind));
    CHECK(frames.module(static_cast<std::uint16_t>(kind)) != nullptr);
    CHECK(frames.is_work(kind) != others.contains(frame_name(kind)));
  }
  CHECK(frame_name(0) == "unknown");
  CHECK(frame_name(kFrameKinds - 1) != "unknown");
  CHECK(frame_name(kFrameKinds) == "unknown");
}

TEST_CASE("a rank whose workers have returned sends no signs of work") {
  progress_role.assert_held();
  StoppingRanks ranks;
  ranks.worker(1).set_activity(WorkerActivity::returned);
  CHECK_FALSE(ranks.sign(1));
  CHECK(ranks.sign(0));
}
