#include "lapse/protocol/group/stop_requests.hpp"

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"

namespace lapse {

void StopRequests::handle_submission(Submission&) {
  request();
  send();
  if (!next_deadline()) set_deadline(now() + kBetweenSigns);
}

void StopRequests::handle_frame(Rank, const FrameHeader&, const std::byte*) {
  request();
  const Clock::time_point at = now();
  note_work(at);
  if (!next_deadline()) set_deadline(at + kBetweenSigns);
}

void StopRequests::handle_deadline(Clock::time_point now) {
  set_deadline(now + kBetweenSigns);
  if (!works()) return;
  note_work(now);
  send();
}

void StopRequests::send() {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::stop_request);
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank)
    if (rank != registry_.self().value()) outbox_.append(Rank(rank), header);
}

bool StopRequests::works() {
  std::uint64_t waits = 0;
  bool runs = false;
  bool may_wait = false;
  for (std::size_t i = 0; i < registry_.workers_of_phase(); ++i) {
    const WorkerEndpoint& worker = *registry_.workers()[i];
    const WorkerActivity activity = worker.activity();
    runs = runs || activity == WorkerActivity::application;
    may_wait = may_wait || (activity != WorkerActivity::returned && activity != WorkerActivity::detached);
    waits += worker.waits();
  }
  const bool waited = waits != waits_;
  waits_ = waits;
  const std::uint64_t work = host_.work_received();
  const bool moved = work != work_;
  work_ = work;
  return runs || (may_wait && (waited || moved)) || (moved && !host_.idle(IdleLevel::synced));
}

}  // namespace lapse
