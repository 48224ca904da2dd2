// Reports to all ranks that the workers of one rank should return early.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/module_host.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Takes any Submission with this module as its handler, once.
//
// From then on, a rank whose workers work repeats the request every kBetweenSigns. A rank whose workers all
// wait learns from this whether it still makes sense to wait. A worker works if it runs code of the
// application or has begun to wait since the last sign. A rank also works if it has received frames of work
// since then (FrameUse): for a worker that waits long or, at the end of the phase, for replicas and keys in
// flight. Only a rank with a worker that has not returned, or that is not idle, sends signs: none is in
// flight when the phase ends.
//
// Thread safety: the holder of the progress lock; requested(), request() and last_work(): any thread.
// Guarantee: a submission of this rank is sent to every other rank, and is known there before the phase ends.
// A request is never revoked.
class StopRequests final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {{FrameKind::stop_request, FrameUse::other}};

  static constexpr std::chrono::milliseconds kBetweenSigns{1000};

  StopRequests(const ModuleHost& host, const Registry& registry, Outbox& outbox)
      : host_(host), registry_(registry), outbox_(outbox) {}

  // Whether some rank has requested it.
  bool requested() const { return requested_.load(std::memory_order_relaxed); }
  // Requests it on this rank only.
  void request() { requested_.store(true); }
  // Last time that workers of some rank have worked, as far as this rank has noticed since it knows the
  // request; the clock's epoch if it has noticed none.
  Clock::time_point last_work() const {
    return Clock::time_point(Clock::duration(last_work_.load(std::memory_order_relaxed)));
  }

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void handle_deadline(Clock::time_point now) override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

 private:
  void send() LAPSE_REQUIRES(progress_role);
  void note_work(Clock::time_point time) {
    last_work_.store(time.time_since_epoch().count(), std::memory_order_relaxed);
  }
  // Whether this rank works; called once in kBetweenSigns.
  bool works() LAPSE_REQUIRES(progress_role);

  const ModuleHost& host_;
  const Registry& registry_;
  Outbox& outbox_;
  std::atomic<bool> requested_{false};
  std::atomic<Clock::rep> last_work_{0};
  std::uint64_t waits_ LAPSE_GUARDED_BY(progress_role) = 0;  // of all workers, at the last call of works
  std::uint64_t work_ LAPSE_GUARDED_BY(progress_role) = 0;   // records of work received until then
};

}  // namespace lapse
