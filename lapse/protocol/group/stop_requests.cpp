#include "lapse/protocol/group/stop_requests.hpp"

#include "lapse/protocol/host/frames.hpp"

namespace lapse {

void StopRequests::handle_submission(Submission&) {
  request();
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::stop_request);
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank)
    if (rank != registry_.self().value()) outbox_.append(Rank(rank), header);
}

void StopRequests::handle_frame(Rank, const FrameHeader&, const std::byte*) {
  request();
}

}  // namespace lapse
