#include "lapse/protocol/group/stop_requests.hpp"

#include <cstdint>

#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

TEST_CASE("a request to stop reaches every rank") {
  progress_role.assert_held();
  test::WaitingRanks ranks;
  const auto requests = [&](std::size_t rank) -> StopRequests& {
    return ranks.protocol(rank).stop_requests();
  };
  for (std::size_t rank = 0; rank < 3; ++rank) CHECK_FALSE(requests(rank).requested());
  Submission request;
  requests(0).handle_submission(request);
  ranks.protocol(0).end_turn();
  ranks.deliver_all();
  for (std::size_t rank = 0; rank < 3; ++rank) CHECK(requests(rank).requested());
}

TEST_CASE("every kind of frame has a name, and a module that takes it") {
  progress_role.assert_held();
  test::WaitingRanks ranks;
  const FrameTable& frames = ranks.protocol(0).frames();
  for (std::size_t kind = 1; kind < kFrameKinds; ++kind) {
    INFO(frame_name(kind));
    CHECK(frames.module(static_cast<std::uint16_t>(kind)) != nullptr);
    CHECK(frame_name(kind) != "unknown");
  }
  CHECK(frame_name(0) == "unknown");
  CHECK(frame_name(kFrameKinds) == "unknown");
}
