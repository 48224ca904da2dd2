// Reports to all ranks that the workers of one rank should return early.
#pragma once

#include <atomic>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/group/termination_detection.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Takes any Submission with this module as its handler, once.
//
// Thread safety: the holder of the progress lock; requested() and request(): any thread.
// Guarantee: a submission of this rank is sent to every other rank, and is known there before the phase ends;
// if that may already have ended, before the next one does. A request is never revoked.
class StopRequests final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::stop_request}};

  StopRequests(const Registry& registry, Outbox& outbox, const TerminationDetection& termination)
      : registry_(registry), outbox_(outbox), termination_(termination) {}

  // Whether some rank has requested it.
  bool requested() const { return requested_.load(std::memory_order_relaxed); }
  // Requests it on this rank only.
  void request() { requested_.store(true); }

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission&) override LAPSE_REQUIRES(progress_role) {
    request();
    request_end_turn();
  }
  void end_turn() override LAPSE_REQUIRES(progress_role) {
    if (termination_.may_have_ended()) return request_end_turn();
    for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank) {
      if (rank != registry_.self().value())
        outbox_.append(Rank(rank), FrameHeader::of(FrameKind::stop_request));
    }
  }
  void handle_frame(Rank, const FrameHeader&, const std::byte*) override LAPSE_REQUIRES(progress_role) {
    request();
  }
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

 private:
  const Registry& registry_;
  Outbox& outbox_;
  const TerminationDetection& termination_;
  std::atomic<bool> requested_{false};
};

}  // namespace lapse
