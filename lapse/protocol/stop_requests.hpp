// Reports to all ranks that the workers of one should return early.
#pragma once

#include <atomic>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/outbox.hpp"
#include "lapse/protocol/protocol_module.hpp"
#include "lapse/protocol/registry.hpp"

namespace lapse {

// What is submitted is any Submission with this module as its handler; it is handled once.
//
// Thread safety: the holder of the progress lock; requested() and request(): any thread.
// Guarantee: a submission of this rank is sent to every other rank once, and is known there before the phase
// ends. A request is never rolled back.
class StopRequests final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::stop_request}};

  StopRequests(const Registry& registry, Outbox& outbox) : registry_(registry), outbox_(outbox) {}

  // Some rank has requested it.
  bool requested() const { return requested_.load(std::memory_order_relaxed); }
  // On this rank alone.
  void request() { requested_.store(true, std::memory_order_relaxed); }

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

 private:
  const Registry& registry_;
  Outbox& outbox_;
  std::atomic<bool> requested_{false};
};

}  // namespace lapse
