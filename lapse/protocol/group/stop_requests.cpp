#include "lapse/protocol/group/stop_requests.hpp"

#include "lapse/protocol/host/frames.hpp"

namespace lapse {

void StopRequests::handle_submission(Submission&) {
  request();
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank)
    if (rank != registry_.self().value())
      outbox_.append(Rank(rank), FrameHeader::of(FrameKind::stop_request));
}

void StopRequests::handle_frame(Rank, const FrameHeader&, const std::byte*) {
  request();
}

}  // namespace lapse
